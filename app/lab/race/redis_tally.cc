#include "app/lab/race/redis_tally.h"

#include <regex>

namespace festa {

RedisTally::RedisTally(const Config& config, Needs needs) {
  const auto& redis = config.redis;
  const auto& redlock = config.redlock;
  if (needs == Needs::kRedis) connect(redis.host, redis.port, redis.user, redis.password);
  if (needs == Needs::kRedlock)
    for (const auto& node : redlock.nodes)
      connect(node.host, node.port, redlock.user, redlock.password);
  atStart_ = total();
}

std::optional<std::int64_t> RedisTally::sinceStart() {
  const auto now = total();
  if (!now || !atStart_) return std::nullopt;
  return *now - *atStart_;
}

void RedisTally::connect(const std::string& host, std::uint16_t port, const std::string& user,
                         const std::string& password) {
  auto server = RedisSession::tryConnect(host, port);
  if (!server) {
    isAnyAway_ = true;
    return;
  }
  server->authenticate(user, password);
  servers_.push_back(std::move(*server));
}

std::optional<std::int64_t> RedisTally::total() {
  if (isAnyAway_ || servers_.empty()) return std::nullopt;
  std::int64_t calls = 0;
  try {
    for (auto& server : servers_)
      calls += lockCommandsIn(server.call({"INFO", "commandstats"}).front());
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  return calls;
}

std::int64_t lockCommandsIn(const std::string& commandStats) {
  static const std::regex kLine(R"(cmdstat_(evalsha|eval|subscribe|unsubscribe):calls=(\d+))");
  std::int64_t calls = 0;
  for (std::sregex_iterator at(commandStats.begin(), commandStats.end(), kLine), end; at != end;
       ++at)
    calls += std::stoll((*at)[2]);
  return calls;
}

}  // namespace festa
