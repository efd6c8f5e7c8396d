#include "app/password_watch.h"

#include "app/operations/log.h"

namespace festa {

drogon::Task<> PasswordWatch::work() {
  co_await readPasswordVersions(database_.watchClient(), versions_);
}

void PasswordWatch::failed(const std::string& why) {
  LogLine("passwords", "warn")
      .with("text",
            "changed passwords cannot be read; tokens are judged by what was known last: " + why);
}

void PasswordWatch::recovered() {
  LogLine("passwords").with("text", "changed passwords are read again");
}

}  // namespace festa
