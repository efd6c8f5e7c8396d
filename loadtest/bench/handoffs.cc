// How often a second one hot key changes hands on Redis, as the service would do it: fast clients,
// one per event loop. Many waiters, each asks again as soon as it has given the key back.
//
//   handoffs <storage> <redis port> <waiters> <from> <seconds> <epoch> <prefix>
//            [<number> <processes> <block>]
//
// Counts the grants of this process between `from` (seconds since 1970) and `seconds` later, so
// that several processes count in the same time, and prints: grants, CPU seconds, missed offers.
// With `number` (from 0), `processes` and `block`, so many neighbours in line are of one process:
// the first process holds the key until all waiters stand in line, and they arrive in turns. Since
// each asks again when it has given the key back, the line stays mixed like that; without, chance
// mixes it, and the rate depends on that more than on anything else.
#include "lock/drogon/loop_clients.h"
#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_epoch.h"
#include "lock/storages.h"

#include <drogon/HttpAppFramework.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

using festa::lock::LockRequest;
using festa::lock::LockStorage;
using festa::lock::Millis;
using std::chrono::system_clock;

constexpr std::size_t kMostWaiters = 100'000;
constexpr Millis kLease{3000};  // the service's own

struct Options {
  std::string storage;
  std::uint16_t port;
  int waiters;
  system_clock::time_point from;
  system_clock::time_point to;
  std::int64_t epoch;
  std::string prefix;
  int number;
  int processes;  // 0: waiters arrive as they like
  int block;

  bool isInTurns() const { return processes > 0; }
  // When the key is let go.
  system_clock::time_point begin() const { return from - std::chrono::milliseconds(300); }
  system_clock::time_point arrivalOf(int waiter) const {
    const auto each = std::chrono::microseconds(700'000) / (waiters * processes);
    const int place = (waiter / block * processes + number) * block + waiter % block;
    return from - std::chrono::milliseconds(1200) + each * place;
  }
};

double secondsUntil(system_clock::time_point when) {
  return std::chrono::duration<double>(when - system_clock::now()).count();
}

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
          count > 10 ? std::stoi(words[8]) : 0,
          count > 10 ? std::stoi(words[9]) : 0,
          count > 10 ? std::stoi(words[10]) : 1};
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
    row_ = festa::lock::findStorage(options.storage);
    if (row_ == nullptr) throw std::invalid_argument("there is no storage " + options.storage);
    storage_ = row_->makeIn({.timers = drogon::app().getLoop(),
                             .epoch = options.epoch,
                             .limits = {kMostWaiters, kMostWaiters},
                             .redis = {{commands_, *clients_, epochs_, options.prefix}}});
  }
  LockStorage& storage() { return *storage_; }
  std::uint64_t offersMissed() const {
    return row_->offersMissed != nullptr ? row_->offersMissed(*storage_) : 0;
  }

 private:
  static std::shared_ptr<const festa::lock::LoopRedisClients> fastClients(std::uint16_t port) {
    drogon::app().createRedisClient("127.0.0.1", port, "default", "", 1, true, 20);
    return festa::lock::fastRedisClients();
  }

  const festa::lock::StorageRow* row_ = nullptr;
  OneEpoch epochs_;
  const std::shared_ptr<const festa::lock::LoopRedisClients> clients_;
  festa::lock::RedisCommands commands_;
  std::shared_ptr<LockStorage> storage_;
};

std::atomic<long> granted{0};

drogon::AsyncTask waitAgainAndAgain(LockStorage& storage, Options options) {
  const LockRequest request{"hot", Millis{120'000}, kLease};
  while (system_clock::now() < options.to) {
    auto lease = co_await storage.tryLock(request);
    if (!lease) throw std::runtime_error("a waiter has waited in vain");
    const auto now = system_clock::now();
    if (now >= options.from && now < options.to) ++granted;
    co_await storage.unlock(std::move(*lease));
  }
}

drogon::AsyncTask holdUntilAllWait(LockStorage& storage, Options options) {
  const LockRequest request{"hot", Millis{120'000}, kLease};
  auto lease = co_await storage.tryLock(request);
  if (!lease || system_clock::now() > options.arrivalOf(0))
    throw std::runtime_error("the key was not held before the first waiter came");
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  co_await drogon::sleepCoro(loop, secondsUntil(options.begin()));
  co_await storage.unlock(std::move(*lease));
}

void startWaiters(LockStorage& storage, const Options& options) {
  auto* const loop = drogon::app().getIOLoop(0);
  if (options.isInTurns() && options.number == 0)
    loop->queueInLoop([&storage, options] { holdUntilAllWait(storage, options); });
  for (int i = 0; i < options.waiters; ++i) {
    auto wait = [&storage, options] { waitAgainAndAgain(storage, options); };
    if (options.isInTurns())
      loop->runAfter(secondsUntil(options.arrivalOf(i)), wait);
    else
      loop->queueInLoop(wait);
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
  app.setThreadNum(1).setLogLevel(trantor::Logger::kWarn);
  Locks locks(options);
  double cpuBefore = 0;
  app.registerBeginningAdvice([&] {
    startWaiters(locks.storage(), options);
    app.getLoop()->runAfter(secondsUntil(options.from), [&] { cpuBefore = cpuSeconds(); });
    app.getLoop()->runAfter(secondsUntil(options.to), [&] {
      std::printf("%ld %.3f %lu\n", granted.load(), cpuSeconds() - cpuBefore,
                  static_cast<unsigned long>(locks.offersMissed()));
      std::fflush(stdout);
      _exit(0);  // with thousands in line there is nothing to tidy up
    });
  });
  app.run();
}
