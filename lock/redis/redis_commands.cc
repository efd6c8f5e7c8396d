#include "lock/redis/redis_commands.h"

#include <drogon/nosql/RedisException.h>
#include <drogon/nosql/RedisResult.h>
#include <drogon/utils/Utilities.h>
#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <coroutine>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace festa::lock {

namespace {

using drogon::nosql::RedisClient;
using drogon::nosql::RedisException;
using drogon::nosql::RedisResult;
using drogon::nosql::RedisResultType;

constexpr std::size_t kMaxArguments = 44;

RedisReply copyOf(const RedisResult& result) {
  RedisReply reply;
  switch (result.type()) {
    case RedisResultType::kInteger:
      reply.kind = RedisReply::Kind::kInteger;
      reply.integer = result.asInteger();
      break;
    case RedisResultType::kString:
    case RedisResultType::kStatus:
      reply.kind = RedisReply::Kind::kText;
      reply.text = result.asString();
      break;
    case RedisResultType::kArray:
      reply.kind = RedisReply::Kind::kList;
      for (const auto& item : result.asArray()) reply.items.push_back(copyOf(item));
      break;
    default: break;
  }
  return reply;
}

// What became of one command. Shared by the callbacks and the waiting coroutine.
struct Outcome {
  std::optional<RedisReply> reply;
  std::string refusal;  // the server's error
  std::string lost;     // why no reply came
};

// hiredis formats from C varargs; "%b" takes a pointer and a size.
template <class OnReply, class OnError, std::size_t... I>
void sendArguments(RedisClient& client, const std::vector<std::string>& arguments, OnReply onReply,
                   OnError onError, std::index_sequence<I...> /*count*/) {
  std::string format;
  for (std::size_t i = 0; i < sizeof...(I); ++i) format += i == 0 ? "%b" : " %b";
  const auto flat = std::tuple_cat(std::make_tuple(arguments[I].data(), arguments[I].size())...);
  std::apply(
      [&](auto... parts) {
        client.execCommandAsync(std::move(onReply), std::move(onError), format, parts...);
      },
      flat);
}

template <std::size_t N = 1, class OnReply, class OnError>
void sendAny(RedisClient& client, const std::vector<std::string>& arguments, OnReply onReply,
             OnError onError) {
  if constexpr (N > kMaxArguments) {
    throw std::logic_error("a Redis command has too many arguments");
  } else {
    if (arguments.size() == N)
      sendArguments(client, arguments, std::move(onReply), std::move(onError),
                    std::make_index_sequence<N>());
    else
      sendAny<N + 1>(client, arguments, std::move(onReply), std::move(onError));
  }
}

class CommandAwaiter {
 public:
  // The arguments outlive it.
  CommandAwaiter(drogon::nosql::RedisClientPtr client, const std::vector<std::string>& arguments)
      : client_(std::move(client)), arguments_(arguments) {}
  CommandAwaiter(const CommandAwaiter&) = delete;
  CommandAwaiter& operator=(const CommandAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }

  void await_suspend(std::coroutine_handle<> handle) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    const auto outcome = outcome_;
    // Resumed from the loop's queue: a command sent from within a disconnect handler would be
    // failed and retried there for ever.
    sendAny(
        *client_, arguments_,
        [outcome, loop, handle](const RedisResult& result) {
          outcome->reply = copyOf(result);
          loop->queueInLoop([handle] { handle.resume(); });
        },
        [outcome, loop, handle](const RedisException& error) {
          const bool refused = error.code() == drogon::nosql::RedisErrorCode::kRedisError;
          (refused ? outcome->refusal : outcome->lost) = error.what();
          if (!refused && outcome->lost.empty()) outcome->lost = "no reply";
          loop->queueInLoop([handle] { handle.resume(); });
        });
  }

  std::shared_ptr<Outcome> await_resume() const { return outcome_; }

 private:
  const drogon::nosql::RedisClientPtr client_;
  const std::vector<std::string>& arguments_;
  const std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();
};

}  // namespace

const RedisCommands::Prepared& RedisCommands::prepared(const RedisScript& script) {
  const std::lock_guard guard(mutex_);
  auto& entry = prepared_[&script];
  if (entry.text.empty()) {
    entry.text = "-- " + drogon::utils::base64Encode(user_) + "\n" + script.text();
    entry.sha = drogon::utils::getSha1(entry.text);
  }
  return entry;
}

drogon::Task<RedisReply> RedisCommands::call(std::vector<std::string> arguments) {
  co_return co_await send(arguments);
}

drogon::Task<RedisReply> RedisCommands::send(const std::vector<std::string>& arguments) {
  if (!breaker_.mayTry(SteadyClock::now())) throw RedisIsAway();
  CommandAwaiter awaiter(clients_.here(), arguments);
  const std::shared_ptr<Outcome> outcome = co_await awaiter;
  if (!outcome->lost.empty()) {
    breaker_.failed(SteadyClock::now());
    ++losses_;
    throw LockStorageUnavailable("Redis: " + outcome->lost);
  }
  breaker_.succeeded();
  if (!outcome->refusal.empty()) throw RedisError(outcome->refusal);
  co_return std::move(*outcome->reply);
}

drogon::Task<RedisReply> RedisCommands::run(const RedisScript& script,
                                            std::vector<std::string> keys,
                                            std::vector<std::string> arguments,
                                            Introduction* introduction) {
  const auto& known = prepared(script);
  std::vector<std::string> command;
  command.reserve(3 + keys.size() + arguments.size());
  command.emplace_back("EVALSHA");
  command.push_back(known.sha);
  command.push_back(std::to_string(keys.size()));
  std::ranges::move(keys, std::back_inserter(command));
  std::ranges::move(arguments, std::back_inserter(command));
  try {
    co_return co_await send(command);
  } catch (const RedisError& error) {
    if (!std::string_view(error.what()).starts_with("NOSCRIPT"))
      throw LockStorageUnavailable(std::string("Redis refuses: ") + error.what());
  }
  if (introduction) co_await introduction->introduce();
  command[0] = "EVAL";
  command[1] = known.text;
  try {
    co_return co_await send(command);
  } catch (const RedisError& error) {
    throw LockStorageUnavailable(std::string("Redis refuses: ") + error.what());
  }
}

}  // namespace festa::lock
