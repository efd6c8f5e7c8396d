// Keeps a process's view of changed passwords up to date.
#pragma once

#include "services/password_versions.h"

#include <functional>

namespace trantor {
class EventLoop;
}

namespace festa {

// Reads the changes once a second, so that another process's change is known here within two. While
// the database cannot be read, tokens are judged by what was known last: readiness tells operators,
// and requests that need the database fail anyway. Must outlive the loop's run.
class PasswordWatch {
 public:
  // `client` is called on the loop of start().
  PasswordWatch(std::function<drogon::orm::DbClientPtr()> client, PasswordVersions& versions)
      : client_(std::move(client)), versions_(versions) {}

  // `loop` must be one that `client` has a client for. Once.
  void start(trantor::EventLoop* loop);

 private:
  drogon::AsyncTask look();
  void report(const std::string& failure);

  const std::function<drogon::orm::DbClientPtr()> client_;
  PasswordVersions& versions_;
  // On the loop's thread only.
  bool isLooking_ = false;
  bool hasFailed_ = false;  // the last time
};

}  // namespace festa
