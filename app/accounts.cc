#include "app/accounts.h"

namespace festa {

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
