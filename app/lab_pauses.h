// Pauses that requests of the lab ask for.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace festa {

// Thread-safe. Must outlive its pauses.
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

  bool add(const std::shared_ptr<Pause>& pause);  // false: all pauses are over
  void remove(const std::shared_ptr<Pause>& pause);

  std::mutex mutex_;
  bool ended_ = false;                                  // guarded by mutex_
  std::unordered_set<std::shared_ptr<Pause>> running_;  // guarded by mutex_
};

}  // namespace festa
