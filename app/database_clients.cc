#include "app/database_clients.h"

#include <drogon/HttpAppFramework.h>

namespace festa {

namespace {

constexpr const char* kBatchClient = "batch";
constexpr const char* kWatchClient = "watch";

WriteSettings writeSettings(const Config::Database& config) {
  WriteSettings settings;
  settings.commitTimeout = config.commitTimeout;
  return settings;
}

std::size_t perLoop(const Config& config, std::size_t connections) {
  return (connections + config.ioThreads() - 1) / config.ioThreads();
}

drogon::orm::PostgresConfig clientConfig(const Config& config) {
  const auto& settings = config.database;
  drogon::orm::PostgresConfig client;
  client.host = settings.host;
  client.port = settings.port;
  client.databaseName = settings.name;
  client.username = settings.user;
  client.password = settings.password;
  client.connectionNumber = perLoop(config, settings.connections);
  client.name = "default";
  client.isFast = true;
  client.timeout = inSeconds(settings.poolTimeout);
  client.autoBatch = false;
  client.connectOptions = {
      {"statement_timeout", std::to_string(settings.statementTimeout.count())},
      {"lock_timeout", std::to_string(settings.lockTimeout.count())},
      {"idle_in_transaction_session_timeout",
       std::to_string((settings.statementTimeout + settings.commitTimeout).count())},
      {"timezone", config.timezone},
      {"application_name", "festabook"},
  };
  return client;
}

std::shared_ptr<const lock::LoopDbClients> addClients(const Config& config) {
  drogon::app().addDbClient(clientConfig(config));
  return lock::fastDbClients();
}

// The statements are the same for any number of members and always find their rows by an index. A
// plan that PostgreSQL made when the tables were small must not scan them when they have grown.
std::shared_ptr<const lock::LoopDbClients> addBatchClients(const Config& config) {
  auto client = clientConfig(config);
  client.name = kBatchClient;
  client.connectionNumber = batchesPerLoop(config);
  client.connectOptions["application_name"] = "festabook-batch";
  client.connectOptions["plan_cache_mode"] = "force_generic_plan";
  client.connectOptions["enable_seqscan"] = "off";
  drogon::app().addDbClient(client);
  return lock::fastDbClients(kBatchClient);
}

std::shared_ptr<const lock::LoopDbClients> addWatchClients(const Config& config) {
  auto client = clientConfig(config);
  client.name = kWatchClient;
  client.connectionNumber = 1;
  client.connectOptions["application_name"] = "festabook-watch";
  drogon::app().addDbClient(client);
  return lock::fastDbClients(kWatchClient);
}

}  // namespace

std::size_t batchesPerLoop(const Config& config) {
  return perLoop(config, config.database.batchConnections);
}

DatabaseClients::DatabaseClients(const Config& config)
    : Database(writeSettings(config.database)),
      clients_(addClients(config)),
      batch_(addBatchClients(config)),
      watch_(addWatchClients(config)) {}

}  // namespace festa
