#include "lock/redis/fenced_server.h"

#include <utility>

namespace festa::lock {

namespace {

constexpr int kAttempts = 3;

// KEYS home → 1: the counter was started on this very server.
const RedisScript kIsHome(R"(
local here = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('GET', KEYS[1]) == here then return 1 end
return 0
)");

std::int64_t firstNumber(const RedisReply& reply) {
  return reply.items.empty() ? reply.integer : firstNumber(reply.items[0]);
}

[[noreturn]] void throwNoCounter() {
  throw LockStorageUnavailable("Redis loses its fence counter again and again");
}

}  // namespace

drogon::Task<FencedServer::Answer> FencedServer::ask(const RedisScript& script,
                                                     std::vector<std::string> keys,
                                                     std::vector<std::string> arguments,
                                                     std::int64_t floor) {
  const bool isChecked = home_ == Home::kChecked;
  auto* const introduction = isChecked ? this : nullptr;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Answer answer;
    try {
      if (attempt > 0) co_await startNewEpoch(floor);
      if (isChecked && trustedAt_ != commands_.losses()) co_await requireHome();
      answer.sent = SteadyClock::now();
      answer.reply = co_await commands_.run(script, keys, arguments, introduction);
    } catch (const RedisIsAway& away) {
      if (attempt == 0) throw;
      // The attempt before has left places in line: that is a loss, not "never sent".
      throw LockStorageUnavailable(away.what());
    }
    if (firstNumber(answer.reply) != kNoEpoch) co_return answer;
  }
  throwNoCounter();
}

drogon::Task<> FencedServer::startNewEpoch(std::int64_t floor) {
  Waiter waiter;
  bool isDrawn = false;  // by another coroutine
  {
    const std::lock_guard guard(mutex_);
    isDrawn = std::exchange(drawing_, true);
    if (isDrawn) waitForEpoch_.push_back(&waiter);
  }
  if (isDrawn) {
    co_await Waiter::Turn(waiter);
    co_return;
  }
  std::exception_ptr error;
  try {
    co_await lock::startNewEpoch(commands_, keys_, epochs_, floor);
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<Waiter*> waiting;
  {
    const std::lock_guard guard(mutex_);
    drawing_ = false;
    waiting.swap(waitForEpoch_);
  }
  // The others ask the server again; without an epoch they will be back.
  for (auto* const other : waiting) other->giveUp();
  if (error) std::rethrow_exception(error);
}

drogon::Task<> FencedServer::requireHome() {
  const auto losses = commands_.losses();
  const std::vector<std::string> keys{keys_.home()};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto reply = co_await commands_.run(kIsHome, keys, {});
    if (reply.integer == 1) {
      trustedAt_ = losses;
      co_return;
    }
    // Asked again afterwards: the draw of another coroutine may have failed.
    co_await startNewEpoch();
  }
  throwNoCounter();
}

std::vector<std::string> argumentsOf(const std::string& owner, const Extension& extension) {
  return {owner, extension.lease ? std::to_string(extension.lease->count()) : "",
          extension.fenceAbove ? std::to_string(*extension.fenceAbove) : ""};
}

}  // namespace festa::lock
