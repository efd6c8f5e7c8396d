#include "app/redis_check.h"

#include "app/log.h"

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <thread>

namespace festa {

namespace {

using Context = std::unique_ptr<redisContext, decltype(&redisFree)>;

std::string call(redisContext& context, const std::vector<std::string>& arguments) {
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const auto& argument : arguments) {
    data.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(
          redisCommandArgv(&context, static_cast<int>(data.size()), data.data(), sizes.data())),
      &freeReplyObject);
  if (!reply) throw std::runtime_error("Redis does not answer");
  std::string text(reply->str != nullptr ? reply->str : "", reply->len);
  if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error("Redis refuses us: " + text);
  return text;
}

void authenticate(redisContext& context, const Config::Redis& config) {
  if (config.password.empty()) return;
  if (config.user.empty())
    call(context, {"AUTH", config.password});
  else
    call(context, {"AUTH", config.user, config.password});
}

constexpr timeval kPatience{2, 0};

// Keeps trying: servers of a stack start in any order.
Context connect(const Config::Redis& config) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(config.connectTimeoutMs);
  while (true) {
    Context context(
        redisConnectWithTimeout(config.host.c_str(), static_cast<int>(config.port), kPatience),
        &redisFree);
    if (context && context->err == 0) return context;
    if (std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error("Redis at " + config.host + ":" + std::to_string(config.port) +
                               " cannot be reached; check redis.host and redis.port");
    LogLine("redis", "warn").with("text", "waiting for Redis");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

void checkRedis(const Config::Redis& config) {
  const auto context = connect(config);
  redisSetTimeout(context.get(), kPatience);
  authenticate(*context, config);
  const auto memory = call(*context, {"INFO", "memory"});
  if (memory.find("maxmemory_policy:noeviction") == std::string::npos)
    throw ConfigError(
        "configuration: 'redis.host' names a server that may evict keys, and with them locks; set "
        "its maxmemory-policy to noeviction");
}

}  // namespace festa
