#include "lock/redis/redis_epoch.h"

#include <trantor/utils/Logger.h>

namespace festa::lock {

namespace {

// KEYS fence, home · ARGV first token of a new epoch, less one: only ever raised.
const RedisScript kStartEpoch(R"(
local last = redis.call('GET', KEYS[1])
if not last or tonumber(last) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('SET', KEYS[2], string.match(redis.call('INFO', 'server'), 'run_id:(%x+)'))
return 1
)");

}  // namespace

drogon::Task<> startNewEpoch(std::shared_ptr<RedisCommands> commands, RedisKeys keys,
                             EpochSource epochs) {
  const auto epoch = co_await epochs();
  const std::vector<std::string> names{keys.fence(), keys.home()};
  const std::vector<std::string> arguments{std::to_string(epoch << 32)};
  co_await commands->run(kStartEpoch, names, arguments);
  LOG_INFO << "lock epoch " << epoch << " begins on Redis";
}

}  // namespace festa::lock
