// Pauses that requests of the lab ask for.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace festa {

// Thread-safe. Must outlive the event loops on which it was used: their timers refer to it.
class LabPauses {
 public:
  LabPauses() = default;
  LabPauses(const LabPauses&) = delete;
  LabPauses& operator=(const LabPauses&) = delete;

  // Awaited on an event loop, which it does not block. Resumes there when the time has passed or
  // end() was called, whichever is first.
  drogon::Task<> pause(std::chrono::milliseconds time);

  // Ends all pauses, and every later one at once. On any thread.
  void end();

 private:
  class Pause;
  using Id = std::uint64_t;

  Id add(Pause& pause);  // 0: all pauses are over
  void finish(Id id);    // on the pause's loop

  std::mutex mutex_;
  // guarded by mutex_
  bool ended_ = false;
  Id last_ = 0;
  std::unordered_map<Id, Pause*> running_;
};

}  // namespace festa
