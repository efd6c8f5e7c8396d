#include "tests/support/servers/redis_server.h"

#include "tests/support/loops.h"

#include <hiredis/hiredis.h>
#include <signal.h>

#include <future>

namespace festa::test {

namespace {

std::string textOf(const redisReply* reply) {
  if (reply == nullptr) return "";
  switch (reply->type) {
    case REDIS_REPLY_INTEGER: return std::to_string(reply->integer);
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR: return {reply->str, reply->len};
    case REDIS_REPLY_ARRAY: {
      std::string all;
      for (std::size_t i = 0; i < reply->elements; ++i) all += textOf(reply->element[i]) + "\n";
      return all;
    }
    default: return "";
  }
}

bool answers(drogon::nosql::RedisClient& client) {
  auto done = std::make_shared<std::promise<bool>>();
  client.execCommandAsync([done](const auto&) { done->set_value(true); },
                          [done](const auto&) { done->set_value(false); }, "PING");
  return done->get_future().get();
}

// The environment is that of Redis alone: a clock that jumps would confuse server.sh.
std::vector<std::string> optionsOf(const std::vector<std::string>& arguments,
                                   const std::map<std::string, std::string>& environment) {
  std::vector<std::string> options;
  for (const auto& [name, value] : environment)
    options.insert(options.end(), {"--env", name + '=' + value});
  options.emplace_back("--");
  options.insert(options.end(), arguments.begin(), arguments.end());
  return options;
}

}  // namespace

RedisServer::RedisServer(const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& environment)
    : server_({.kind = "redis", .arguments = optionsOf(arguments, environment)}) {}

RedisServer::~RedisServer() {
  if (process().isRunning()) kill();
  silencePort(port());
}

void RedisServer::kill() {
  process().signal(SIGKILL);
  process().wait();
}

drogon::nosql::RedisClientPtr RedisServer::connectTo(int port, std::size_t connections,
                                                     std::chrono::milliseconds patience) {
  auto client = drogon::nosql::RedisClient::newRedisClient(
      trantor::InetAddress("127.0.0.1", static_cast<std::uint16_t>(port)), connections);
  client->setTimeout(0.5);  // a command sent before there is a connection may have no answer
  // Never destroyed: a coroutine may drop the last pointer on the client's own thread.
  static auto& kept = *new std::vector<drogon::nosql::RedisClientPtr>;
  kept.push_back(client);
  if (!eventually([&] { return answers(*client); }))
    throw std::runtime_error("Redis does not answer");
  client->setTimeout(std::chrono::duration<double>(patience).count());
  return client;
}

std::string RedisServer::command(const std::vector<std::string>& arguments) const {
  const std::unique_ptr<redisContext, decltype(&redisFree)> context(
      redisConnect("127.0.0.1", port()), &redisFree);
  if (!context || context->err != 0) return "";
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const auto& argument : arguments) {
    data.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  auto* reply = static_cast<redisReply*>(
      redisCommandArgv(context.get(), static_cast<int>(data.size()), data.data(), sizes.data()));
  const auto text = textOf(reply);
  if (reply != nullptr) freeReplyObject(reply);
  return text;
}

long RedisServer::calls(const std::string& name) const {
  const auto stats = command({"INFO", "commandstats"});
  const auto at = stats.find("cmdstat_" + name + ":calls=");
  return at == std::string::npos ? 0 : std::stol(stats.substr(stats.find('=', at) + 1));
}

RedisServer& sharedRedis() {
  static RedisServer server;
  return server;
}

}  // namespace festa::test
