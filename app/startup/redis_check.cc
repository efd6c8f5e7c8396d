#include "app/startup/redis_check.h"

#include "app/operations/log.h"
#include "app/startup/redis_session.h"

#include <chrono>
#include <thread>

namespace festa {

namespace {

bool mayEvict(RedisSession& redis) {
  const auto memory = redis.call({"INFO", "memory"}).front();
  return memory.find("maxmemory_policy:noeviction") == std::string::npos;
}

std::string setting(RedisSession& redis, const std::string& name) {
  const auto answer = redis.call({"CONFIG", "GET", name});
  return answer.size() == 2 ? answer[1] : "";
}

// A restart may lose some of its keys and keep others.
bool mayForgetSome(RedisSession& redis) {
  if (setting(redis, "appendonly") == "yes") return setting(redis, "appendfsync") != "always";
  return !setting(redis, "save").empty();
}

void pauseBeforeRetry(const std::string& what) {
  LogLine("redis", "warn").with("text", "waiting for " + what);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

// Keeps trying: servers of a stack start in any order.
RedisSession connect(const Config::Redis& config) {
  const auto deadline = std::chrono::steady_clock::now() + config.connectTimeout;
  while (true) {
    auto redis = RedisSession::tryConnect(config.host, config.port);
    if (redis) return std::move(*redis);
    if (std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error("Redis at " + config.host + ":" + std::to_string(config.port) +
                               " cannot be reached; check redis.host and redis.port");
    pauseBeforeRetry("Redis");
  }
}

[[noreturn]] void refuseNode(const Config::Redlock::Node& node, const std::string& why) {
  throw ConfigError("configuration: 'redlock.nodes': " + node.text() + " " + why);
}

// False when it cannot be reached.
bool checkNode(const Config::Redlock& config, const Config::Redlock::Node& node) {
  auto redis = RedisSession::tryConnect(node.host, node.port);
  if (!redis) return false;
  try {
    redis->authenticate(config.user, config.password);
    if (mayEvict(*redis))
      refuseNode(node,
                 "may evict keys, and with them locks; set its maxmemory-policy to noeviction");
    if (mayForgetSome(*redis))
      refuseNode(node,
                 "may forget the latest locks when it restarts; set save to \"\" and appendonly to "
                 "no, or appendonly to yes and appendfsync to always");
  } catch (const RedisDoesNotAnswer&) {
    return false;
  } catch (const ConfigError&) {
    throw;
  } catch (const std::runtime_error& error) {
    refuseNode(node, std::string("cannot be used: ") + error.what());
  }
  return true;
}

}  // namespace

void checkRedis(const Config::Redis& config) {
  auto redis = connect(config);
  redis.authenticate(config.user, config.password);
  if (mayEvict(redis))
    throw ConfigError(
        "configuration: 'redis.host' names a server that may evict keys, and with them locks; set "
        "its maxmemory-policy to noeviction");
}

void checkRedlock(const Config::Redlock& config) {
  const auto deadline = std::chrono::steady_clock::now() + config.connectTimeout;
  auto missing = config.nodes;
  while (true) {
    std::erase_if(missing, [&](const auto& node) { return checkNode(config, node); });
    if (2 * missing.size() < config.nodes.size()) break;
    if (std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error("no majority of the Redlock nodes can be reached, " +
                               missing.front().text() + " among others; check redlock.nodes");
    pauseBeforeRetry("a majority of the Redlock nodes");
  }
  for (const auto& node : missing)
    LogLine("redlock", "warn").with("text", "a node cannot be reached").with("node", node.text());
}

}  // namespace festa
