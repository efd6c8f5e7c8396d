// Tokens and passwords of this process.
#pragma once

#include "app/config/config.h"
#include "app/database_clients.h"
#include "app/password_watch.h"
#include "services/accounts/password_hasher.h"
#include "services/accounts/password_versions.h"
#include "services/accounts/token_service.h"

#include <memory>

namespace trantor {
class EventLoop;
}

namespace festa {

// Thread-safe.
struct Accounts {
  // `database` and `known` outlive the accounts.
  Accounts(const Config::Auth& config, const DatabaseClients& database, PasswordVersions& known);

  void start(trantor::EventLoop* loop) const { watch->start(loop); }
  // While the loops still run, and not on one of them.
  void stop();

  const TokenService tokens;
  PasswordVersions& versions;
  PasswordHasher hasher;
  const std::shared_ptr<PasswordWatch> watch;
};

}  // namespace festa
