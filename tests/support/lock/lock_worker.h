// A process of its own that takes locks as it is told.
#pragma once

#include "lock/lock_storage.h"
#include "tests/support/history/history.h"
#include "tests/support/servers/process.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace festa::test {

// Talks with lock_worker_main.cc by lines:
//   lock <id> <key> <wait ms> <lease ms>     → granted <id> <fence> <steady ns> · busy <id> ·
//                                              failed <id> <text>
//   unlock <id>                              → unlocked <id> released · lost · unknown
//   extend <id> <lease ms>                   → extended <id> · lost <id>
//   many <count> <key> <wait ms> <lease ms>  → as lock and unlock, for waiters n0, n1, …: each
//                                              gives the key back as soon as it has it
//   stats <id>                               → stats <id> <waiting> <holding>
//   time <id>                                → time <id> <wall clock s>
//   quit
// and `history <event>` for each event of its own. Keys and ids are words without blanks.
//
// Used by one thread; killed when this goes out of scope.
class LockWorker {
 public:
  struct Options {
    std::string storage;  // see storages.h
    std::vector<int> ports;
    std::string epochs;  // file shared by all workers
    std::map<std::string, std::string> environment = {};
  };
  struct Grant {
    std::int64_t fence;
    lock::SteadyTime at;
  };

  explicit LockWorker(const Options& options);  // until it is ready
  ~LockWorker();
  LockWorker(const LockWorker&) = delete;
  LockWorker& operator=(const LockWorker&) = delete;

  void startLock(const std::string& id, const std::string& key, lock::Millis wait,
                 lock::Millis lease);
  // nullopt: busy. Throws std::runtime_error when it failed. Waits as long as that takes, within
  // the patience of tests; so do all below.
  std::optional<Grant> finishLock(const std::string& id);
  std::optional<Grant> lock(const std::string& id, const std::string& key, lock::Millis wait,
                            lock::Millis lease);
  std::string unlock(const std::string& id);
  bool extend(const std::string& id, lock::Millis lease);

  void startMany(int count, const std::string& key, lock::Millis wait, lock::Millis lease,
                 std::size_t together = 1);
  std::string finishOneOfMany(int index);  // how its hold ended, or "busy"

  std::size_t waiting();
  std::int64_t wallClock();  // seconds

  std::string history();  // so far, as text
  std::string log() const;
  Process& process() { return *process_; }
  int quit();  // the exit code

 private:
  using Words = std::vector<std::string>;

  void stop();
  void say(const std::string& line);
  void listen();
  // The next answer about the id; throws when the worker has ended or is silent.
  Words answerAbout(const std::string& id);

  const std::string log_;
  int channel_ = -1;
  std::optional<Process> process_;
  std::thread listener_;
  std::mutex mutex_;
  std::condition_variable heard_;
  // guarded by mutex_
  std::map<std::string, std::deque<Words>> answers_;  // by id
  std::string history_;
  bool ended_ = false;
};

}  // namespace festa::test
