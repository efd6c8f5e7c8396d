#include "tests/support/redis_server.h"

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

}  // namespace

RedisServer::RedisServer(std::vector<std::string> arguments,
                         std::map<std::string, std::string> environment)
    : arguments_(std::move(arguments)),
      environment_(std::move(environment)),
      folder_(makeTemporaryFolder()),
      port_(freePort()) {
  start();
}

RedisServer::~RedisServer() {
  process_.reset();
  silencePort(port_);
}

void RedisServer::start() {
  std::vector<std::string> command{
      "redis-server", "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir", folder_,
      "--save",       "",       "--daemonize",         "no"};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  process_ = std::make_unique<Process>(
      Command{.arguments = command, .environment = environment_, .output = folder_ + "/log"});
  if (!eventually([this] { return this->command({"PING"}) == "PONG"; }))
    throw std::runtime_error("redis-server did not start");
}

void RedisServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
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
      redisConnect("127.0.0.1", port_), &redisFree);
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
