// Work that is done again and again while the process serves.
#pragma once

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace festa {

// One piece of work at a time; what is due while one runs is left out.
//
// Shared with the timer's closure, which a loop keeps longer than the timer. What the work uses
// must outlive stop().
class RegularWork : public std::enable_shared_from_this<RegularWork> {
 public:
  virtual ~RegularWork() = default;

  // At once and then every so often, on `loop`, which must be one that has a database client if the
  // work needs one. Once.
  void start(trantor::EventLoop* loop);

  // On another thread than the loop's, which must still run; returns when nothing is under way and
  // nothing will be. Needed before Drogon quits: it destroys the clients while the loops still run.
  void stop();

 protected:
  explicit RegularWork(std::chrono::milliseconds every) : every_(every) {}

  virtual drogon::Task<> work() = 0;
  // Told once when it begins to fail, and once when it works again, not each time.
  virtual void failed(const std::string& why) = 0;
  virtual void recovered() = 0;

 private:
  drogon::AsyncTask runOnce();
  void report(const std::string& failure);

  const std::chrono::milliseconds every_;
  trantor::EventLoop* loop_ = nullptr;
  // On the loop's thread only.
  enum class State { kIdle, kWorking, kStopped } state_ = State::kIdle;
  bool hasFailed_ = false;        // the last time
  std::function<void()> onIdle_;  // of a stop() that waits for the work under way
};

}  // namespace festa
