// Makes and checks the tokens and passwords of this process.
#pragma once

#include "app/config/config.h"
#include "app/database_clients.h"
#include "services/accounts/password_hasher.h"
#include "services/accounts/password_versions.h"
#include "services/accounts/token_service.h"
#include "services/periodic_task.h"

#include <memory>

namespace festa {

// Thread-safe.
struct Accounts {
  // `database` and `known` outlive the accounts.
  Accounts(const Config::Auth& config, const DatabaseClients& database, PasswordVersions& known);

  // On an IO loop.
  void start(trantor::EventLoop* loop) const { watch->start(loop); }
  // While the loops still run, and not on one of them.
  void stop();

  const TokenService tokens;
  PasswordVersions& versions;
  PasswordHasher hasher;
  // Reads changed passwords regularly (once a second), so that a change in another process is known
  // here within two seconds. While the database cannot be read, tokens are judged by what was known
  // last: readiness tells operators, and requests that need the database fail anyway.
  const std::shared_ptr<PeriodicTask> watch;
};

}  // namespace festa
