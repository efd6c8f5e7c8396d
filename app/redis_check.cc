#include "app/redis_check.h"

#include "app/log.h"

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <thread>

namespace festa {

namespace {

using Context = std::unique_ptr<redisContext, decltype(&redisFree)>;

// The server is away, hangs, or still reads its files.
class NoAnswer : public std::runtime_error {
 public:
  NoAnswer() : std::runtime_error("Redis does not answer") {}
};

std::vector<std::string> textsOf(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY)
    return {std::string(reply.str != nullptr ? reply.str : "", reply.len)};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < reply.elements; ++i)
    for (auto& text : textsOf(*reply.element[i])) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> call(redisContext& context, const std::vector<std::string>& arguments) {
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
  if (!reply) throw NoAnswer();
  auto texts = textsOf(*reply);
  if (reply->type != REDIS_REPLY_ERROR) return texts;
  if (texts.front().starts_with("LOADING")) throw NoAnswer();
  throw std::runtime_error("Redis refuses us: " + texts.front());
}

void authenticate(redisContext& context, const std::string& user, const std::string& password) {
  if (password.empty()) return;
  if (user.empty())
    call(context, {"AUTH", password});
  else
    call(context, {"AUTH", user, password});
}

bool mayEvict(redisContext& context) {
  const auto memory = call(context, {"INFO", "memory"}).front();
  return memory.find("maxmemory_policy:noeviction") == std::string::npos;
}

std::string setting(redisContext& context, const std::string& name) {
  const auto answer = call(context, {"CONFIG", "GET", name});
  return answer.size() == 2 ? answer[1] : "";
}

// What it forgets when it restarts is neither everything nor nothing.
bool mayForgetSome(redisContext& context) {
  if (setting(context, "appendonly") == "yes") return setting(context, "appendfsync") != "always";
  return !setting(context, "save").empty();
}

constexpr timeval kPatience{2, 0};

// Null when it cannot be reached.
Context tryConnect(const std::string& host, std::uint16_t port) {
  Context context(redisConnectWithTimeout(host.c_str(), port, kPatience), &redisFree);
  if (context && context->err != 0) context.reset();
  if (context) redisSetTimeout(context.get(), kPatience);
  return context;
}

void pauseBeforeRetry(const std::string& what) {
  LogLine("redis", "warn").with("text", "waiting for " + what);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

// Keeps trying: servers of a stack start in any order.
Context connect(const Config::Redis& config) {
  const auto deadline = std::chrono::steady_clock::now() + config.connectTimeout;
  while (true) {
    auto context = tryConnect(config.host, config.port);
    if (context) return context;
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
  const auto context = tryConnect(node.host, node.port);
  if (!context) return false;
  try {
    authenticate(*context, config.user, config.password);
    if (mayEvict(*context))
      refuseNode(node,
                 "may evict keys, and with them locks; set its maxmemory-policy to noeviction");
    if (mayForgetSome(*context))
      refuseNode(node,
                 "may forget the latest locks when it restarts; set save to \"\" and appendonly to "
                 "no, or appendonly to yes and appendfsync to always");
  } catch (const NoAnswer&) {
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
  const auto context = connect(config);
  authenticate(*context, config.user, config.password);
  if (mayEvict(*context))
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
