// One Redis server from whose counter fences are drawn.
#pragma once

#include "lock/engine/waiter.h"
#include "lock/redis/redis_epoch.h"
#include "lock/redis/redis_keys.h"

#include <atomic>
#include <mutex>

namespace festa::lock {

// How all storages ask a server. Scripts whose first number is kNoEpoch have found the fence
// counter missing (flush, restart) or below a floor, and have granted nothing: a new epoch is
// drawn, and the script runs again. Thread-safe; awaited on an event loop's thread and resumed on
// that loop.
class FencedServer : private RedisCommands::Introduction {
 public:
  static constexpr std::int64_t kNoEpoch = -1;

  // Whether the counter must have been started on this very server. A replica that took over has a
  // copy of it, perhaps without the last tokens. It is checked after a lost reply and when the
  // server does not know our scripts; replicas do not.
  enum class Home { kChecked, kNotChecked };

  // All that it takes outlives this, and this the event loops on which it is used.
  FencedServer(RedisCommands& commands, RedisKeys keys, EpochSource& epochs, Home home)
      : commands_(commands), keys_(std::move(keys)), epochs_(epochs), home_(home) {}

  struct Answer {
    RedisReply reply = {};
    SteadyTime sent = {};  // the command that was answered
  };
  // Throws RedisIsAway when nothing was sent, LockStorageUnavailable when an answer is missing or
  // the counter is lost again and again, and what the epoch source throws.
  drogon::Task<Answer> ask(const RedisScript& script, std::vector<std::string> keys,
                           std::vector<std::string> arguments, std::int64_t floor = 0);

 private:
  // Tokens go on above all earlier ones and above `floor`. Several that find the counter missing at
  // once draw one epoch together. They return when that has ended, well or badly.
  drogon::Task<> startNewEpoch(std::int64_t floor = 0);
  drogon::Task<> introduce() override { return requireHome(); }
  drogon::Task<> requireHome();

  RedisCommands& commands_;
  const RedisKeys keys_;
  EpochSource& epochs_;
  const Home home_;
  std::atomic<std::uint64_t> trustedAt_{0};  // losses of commands_ when the server was last checked

  std::mutex mutex_;
  // guarded by mutex_
  bool drawing_ = false;
  std::vector<Waiter*> waitForEpoch_;
};

// The arguments of a script that changes a hold: owner, lease in ms or '', fence to exceed or ''.
std::vector<std::string> argumentsOf(const std::string& owner, const Extension& extension);

}  // namespace festa::lock
