#include "lock/redis/redis_epoch.h"

#include "lock/engine/owner_id.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

namespace festa::lock {

namespace {

constexpr int kEpochAttempts = 3;

// KEYS fence, home, loss · ARGV nonce, floor → mark · '': the counter can be used as it is.
// A mark names the server that made it: one that came with a snapshot or to a replica may be older
// than an epoch that was installed since.
const RedisScript kMarkLoss(R"(
local here = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local last = redis.call('GET', KEYS[1])
if last and tonumber(last) >= tonumber(ARGV[2]) and redis.call('GET', KEYS[2]) == here then
  return ''
end
local mark = redis.call('GET', KEYS[3])
if not mark or string.match(mark, '^%x+') ~= here then
  mark = here .. ' ' .. ARGV[1]
  redis.call('SET', KEYS[3], mark)
end
return mark
)");

// KEYS fence, home, loss · ARGV mark, first token of the epoch, less one → 1 · 0: not that mark.
const RedisScript kInstallEpoch(R"(
local here = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('GET', KEYS[3]) ~= ARGV[1] or string.match(ARGV[1], '^%x+') ~= here then return 0 end
redis.call('DEL', KEYS[3])
local last = redis.call('GET', KEYS[1])
if not last or tonumber(last) < tonumber(ARGV[2]) then redis.call('SET', KEYS[1], ARGV[2]) end
redis.call('SET', KEYS[2], here)
return 1
)");

std::vector<std::string> namesOf(const RedisKeys& keys) {
  return {keys.fence(), keys.home(), keys.loss()};
}

drogon::Task<std::int64_t> drawAndComeBack(EpochSource& epochs) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  std::int64_t epoch = 0;
  std::exception_ptr failure;
  try {
    epoch = co_await epochs.draw();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!loop->isInLoopThread()) co_await drogon::switchThreadCoro(loop);
  if (failure) std::rethrow_exception(failure);
  co_return epoch;
}

}  // namespace

drogon::Task<std::string> markLoss(RedisCommands& commands, RedisKeys keys, std::string nonce,
                                   std::int64_t floor) {
  const auto names = namesOf(keys);
  const std::vector<std::string> arguments{nonce, std::to_string(floor)};
  const auto reply = co_await commands.run(kMarkLoss, names, arguments);
  co_return reply.text;
}

drogon::Task<bool> installEpoch(RedisCommands& commands, RedisKeys keys, std::string mark,
                                std::int64_t epoch) {
  const auto names = namesOf(keys);
  const std::vector<std::string> arguments{mark, std::to_string(epoch << 32)};
  const auto reply = co_await commands.run(kInstallEpoch, names, arguments);
  co_return reply.integer == 1;
}

drogon::Task<> startNewEpoch(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                             std::int64_t floor) {
  for (int attempt = 0; attempt < kEpochAttempts; ++attempt) {
    const std::string nonce = randomOwnerPrefix();
    const auto mark = co_await markLoss(commands, keys, nonce, floor);
    if (mark.empty()) co_return;
    const auto epoch = co_await drawAndComeBack(epochs);
    const bool installed = co_await installEpoch(commands, keys, mark, epoch);
    if (installed) {
      LOG_INFO << "lock epoch " << epoch << " begins on Redis";
      co_return;
    }
  }
  throw LockStorageUnavailable("Redis loses its fence counter again and again");
}

}  // namespace festa::lock
