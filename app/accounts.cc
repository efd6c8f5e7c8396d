#include "app/accounts.h"

namespace festa {

Accounts::Accounts(const Config::Auth& config, const DatabaseClients& database,
                   PasswordVersions& known)
    : tokens(config.jwtSecret, std::chrono::minutes(config.tokenMinutes)),
      versions(known),
      hasher(static_cast<std::size_t>(config.hashThreads),
             static_cast<std::size_t>(config.hashQueue)),
      watch(std::make_shared<PasswordWatch>(database, known,
                                            std::chrono::milliseconds(config.passwordPollMs))) {}

void Accounts::stop() {
  watch->stop();
  hasher.stop();
}

}  // namespace festa
