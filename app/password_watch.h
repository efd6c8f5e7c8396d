// Keeps a process's view of changed passwords up to date.
#pragma once

#include "app/database_clients.h"
#include "services/password_versions.h"

#include <trantor/net/EventLoop.h>

#include <chrono>
#include <functional>
#include <memory>

namespace festa {

// Reads the changes regularly (once a second), so that another process's change is known here
// within two seconds. While the database cannot be read, tokens are judged by what was known last:
// readiness tells operators, and requests that need the database fail anyway.
//
// Shared with the timer's closure, which a loop keeps longer than the timer. `versions` must
// outlive stop().
class PasswordWatch : public std::enable_shared_from_this<PasswordWatch> {
 public:
  // `database` outlives stop(), too.
  PasswordWatch(const DatabaseClients& database, PasswordVersions& versions,
                std::chrono::milliseconds every)
      : database_(database), versions_(versions), every_(every) {}

  // `loop` must be one that has a database client. Once.
  void start(trantor::EventLoop* loop);

  // On another thread than the loop's, which must still run; returns when nothing is under way and
  // nothing will be. Needed before Drogon quits: it destroys the clients while the loops still run.
  void stop();

 private:
  drogon::AsyncTask look();
  void report(const std::string& failure);

  const DatabaseClients& database_;
  PasswordVersions& versions_;
  const std::chrono::milliseconds every_;
  trantor::EventLoop* loop_ = nullptr;
  // On the loop's thread only.
  enum class State { kIdle, kLooking, kStopped } state_ = State::kIdle;
  bool hasFailed_ = false;        // the last time
  std::function<void()> onIdle_;  // of a stop() that waits for a look
};

}  // namespace festa
