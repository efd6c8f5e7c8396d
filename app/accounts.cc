#include "app/accounts.h"

#include "app/operations/log.h"

namespace festa {

namespace {

class PasswordWatch : public PeriodicTask {
 public:
  PasswordWatch(const DatabaseClients& database, PasswordVersions& versions,
                std::chrono::milliseconds interval)
      : PeriodicTask(
            interval,
            {.fails = "changed passwords cannot be read; tokens are judged by what was known last",
             .worksAgain = "changed passwords are read again"}),
        database_(database),
        versions_(versions) {}

 private:
  drogon::Task<> work() override {
    co_await readPasswordVersions(database_.watchClient(), versions_);
  }
  void log(bool fails, const std::string& text) const override {
    LogLine("passwords", fails ? "warn" : "info").with("text", text);
  }

  const DatabaseClients& database_;
  PasswordVersions& versions_;
};

}  // namespace

Accounts::Accounts(const Config::Auth& config, const DatabaseClients& database,
                   PasswordVersions& known)
    : tokens(config.jwtSecret, config.tokenLife),
      versions(known),
      hasher(config.hashThreads, config.hashQueue),
      watch(std::make_shared<PasswordWatch>(database, known, config.passwordPoll)) {}

void Accounts::stop() {
  watch->stop();
  hasher.stop();
}

}  // namespace festa
