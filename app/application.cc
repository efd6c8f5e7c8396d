#include "app/application.h"

#include "app/accounts.h"
#include "app/config/lock_settings.h"
#include "app/database_clients.h"
#include "app/http_settings.h"
#include "app/lifecycle.h"
#include "app/locks.h"
#include "app/operations/log.h"
#include "app/operations/metrics.h"
#include "app/queues.h"
#include "app/startup/database_setup.h"
#include "app/startup/redis_check.h"
#include "app/website.h"

namespace festa {

namespace {

void warnOfModes(const Config& config) {
  if (config.demo)
    LogLine("demo", "warn").with("text", "demo mode: known passwords and a known token secret");
  if (config.lab)
    LogLine("lab", "warn").with("text", "lab mode: requests may switch protection off");
}

void checkServers(const Config& config) {
  if (!config.redis.host.empty()) checkRedis(config.redis);
  if (!config.redlock.nodes.empty()) checkRedlock(config.redlock);
}

}  // namespace

void serve(const Config& config, MakeLab makeLab) {
  checkLocks(config);
  warnOfModes(config);
  checkServers(config);
  PasswordVersions passwords{config.auth.tokenLife};
  const auto epoch = prepareDatabase(config, passwords);
  // Up to here a signal simply ends the process.
  const auto signals = blockStopSignals();

  Metrics metrics;
  // Shared: Drogon keeps requests that were not answered until the process ends.
  const auto drain = std::make_shared<Drain>();
  const auto connections = configureHttpServer(httpServerSettings(config), drain);
  const DatabaseClients database(config);
  Locks locks(config, database, epoch, metrics);
  const Queues queues(config, database, metrics, locks.strategies());
  Accounts accounts(config.auth, database, passwords);
  Services services(config, database, accounts);
  const Foundation on{config, database, metrics, locks, queues, accounts, services, drain};
  const auto lab = config.lab ? makeLab(on) : nullptr;
  Website website(on, lab.get());
  Lifecycle lifecycle(
      {config, metrics, locks, queues, accounts, services, website, *connections, *drain});
  lifecycle.run(signals);
}

}  // namespace festa
