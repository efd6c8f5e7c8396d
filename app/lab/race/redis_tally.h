// How many commands a lock costs its Redis servers.
#pragma once

#include "app/config/config.h"
#include "app/startup/redis_session.h"
#include "app/strategies/strategies.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

// Counts the commands that all servers of a strategy get from its construction on: one Redis, or
// the Redlock nodes. Blocks: not for an event loop. Not thread-safe.
class RedisTally {
 public:
  RedisTally(const Config& config, Needs needs);

  // nullopt: the strategy uses no Redis, or a server does not answer.
  std::optional<std::int64_t> sinceStart();

 private:
  void connect(const std::string& host, std::uint16_t port, const std::string& user,
               const std::string& password);
  std::optional<std::int64_t> total();

  std::vector<RedisSession> servers_;
  bool isAnyAway_ = false;
  std::optional<std::int64_t> atStart_;
};

// Commands that lock storages send, in the text of INFO commandstats: scripts and subscriptions.
// Redis counts what the scripts call under other names.
std::int64_t lockCommandsIn(const std::string& commandStats);

}  // namespace festa
