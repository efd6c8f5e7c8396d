// How often a second one hot key changes hands on Redis, as the service would do it: fast clients,
// one per event loop. Many waiters, each asks again as soon as it has given the key back.
//
//   handoffs <storage> <redis port> <waiters> <from> <seconds> <epoch> <prefix> [<loops>]
//
// Counts the grants of this process between `from` (seconds since 1970) and `seconds` later, so
// that several processes count in the same time, and prints: grants, CPU seconds.
#include "lock/loop_clients.h"
#include "lock/redis/redis_fair_lock_storage.h"
#include "lock/redis/redis_pubsub_lock_storage.h"

#include <drogon/HttpAppFramework.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

using festa::lock::Lease;
using festa::lock::LockRequest;
using festa::lock::LockStorage;
using festa::lock::Millis;
using std::chrono::system_clock;

constexpr std::size_t kMostWaiters = 100'000;

struct Options {
  std::string storage;
  std::uint16_t port;
  int waiters;
  system_clock::time_point from;
  system_clock::time_point to;
  std::int64_t epoch;
  std::string prefix;
  std::size_t loops;
};

Options optionsOf(int count, char** words) {
  if (count < 8) throw std::invalid_argument("usage: see the head of handoffs.cc");
  const auto seconds = [](const char* text) {
    return std::chrono::duration_cast<system_clock::duration>(
        std::chrono::duration<double>(std::stod(text)));
  };
  const system_clock::time_point from{seconds(words[4])};
  return {words[1],
          static_cast<std::uint16_t>(std::stoi(words[2])),
          std::stoi(words[3]),
          from,
          from + seconds(words[5]),
          std::stoll(words[6]),
          words[7],
          count > 8 ? std::stoul(words[8]) : 1};
}

class OneEpoch : public festa::lock::EpochSource {
 public:
  explicit OneEpoch(std::int64_t epoch) : epoch_(epoch) {}
  drogon::Task<std::int64_t> draw() override { co_return epoch_; }

 private:
  const std::int64_t epoch_;
};

// A storage and all that it refers to. Outlives app().run().
class Locks {
 public:
  explicit Locks(const Options& options)
      : epochs_(options.epoch), clients_(fastClients(options.port)), commands_(*clients_) {
    const bool fair = options.storage == "redis-fair";
    const festa::lock::RedisKeys keys(options.prefix, fair ? "fair" : "pubsub");
    const festa::lock::LineSurroundings around{
        drogon::app().getLoop(), *clients_, {kMostWaiters, kMostWaiters}};
    if (fair)
      storage_ =
          std::make_unique<festa::lock::RedisFairLockStorage>(commands_, keys, epochs_, around);
    else
      storage_ =
          std::make_unique<festa::lock::RedisPubSubLockStorage>(commands_, keys, epochs_, around);
  }
  LockStorage& storage() { return *storage_; }

 private:
  static std::shared_ptr<const festa::lock::LoopRedisClients> fastClients(std::uint16_t port) {
    drogon::app().createRedisClient("127.0.0.1", port, "default", "", 1, true, 20);
    return festa::lock::fastRedisClients();
  }

  OneEpoch epochs_;
  const std::shared_ptr<const festa::lock::LoopRedisClients> clients_;
  festa::lock::RedisCommands commands_;
  std::unique_ptr<LockStorage> storage_;
};

std::atomic<long> granted{0};

drogon::AsyncTask waitAgainAndAgain(LockStorage& storage, Options options) {
  const LockRequest request{"hot", Millis{120'000}, Millis{10'000}};
  while (system_clock::now() < options.to) {
    const auto lease = co_await storage.tryLock(request);
    if (!lease) throw std::runtime_error("a waiter has waited in vain");
    const auto now = system_clock::now();
    if (now >= options.from && now < options.to) ++granted;
    const Lease copy = *lease;
    co_await storage.unlock(copy);
  }
}

double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int count, char** words) {
  const auto options = optionsOf(count, words);
  auto& app = drogon::app();
  app.setThreadNum(options.loops).setLogLevel(trantor::Logger::kWarn);
  Locks locks(options);
  double cpuBefore = 0;
  app.registerBeginningAdvice([&] {
    for (int i = 0; i < options.waiters; ++i)
      app.getIOLoop(static_cast<std::size_t>(i) % options.loops)->queueInLoop([&locks, options] {
        waitAgainAndAgain(locks.storage(), options);
      });
    const auto in = [](system_clock::time_point when) {
      return std::chrono::duration<double>(when - system_clock::now()).count();
    };
    app.getLoop()->runAfter(in(options.from), [&] { cpuBefore = cpuSeconds(); });
    app.getLoop()->runAfter(in(options.to), [&] {
      std::printf("%ld %.3f\n", granted.load(), cpuSeconds() - cpuBefore);
      std::fflush(stdout);
      _exit(0);  // with thousands in line there is nothing to tidy up
    });
  });
  app.run();
}
