#include "app/password_watch.h"

#include "app/log.h"

#include <trantor/net/EventLoop.h>

namespace festa {

namespace {

constexpr double kEvery = 1;

}  // namespace

void PasswordWatch::start(trantor::EventLoop* loop) {
  loop->queueInLoop([this] { look(); });
  loop->runEvery(kEvery, [this] { look(); });
}

drogon::AsyncTask PasswordWatch::look() {
  if (isLooking_) co_return;
  isLooking_ = true;
  std::string failure;
  try {
    co_await readPasswordVersions(client_(), versions_);
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure.empty()) failure = "unknown";
  }
  isLooking_ = false;
  report(failure);
}

// Said once, not every second.
void PasswordWatch::report(const std::string& failure) {
  const bool fails = !failure.empty();
  if (fails && !hasFailed_)
    LogLine("passwords", "warn")
        .with("text",
              "changed passwords cannot be read; tokens are judged by what was known last: " +
                  failure);
  if (!fails && hasFailed_) LogLine("passwords").with("text", "changed passwords are read again");
  hasFailed_ = fails;
}

}  // namespace festa
