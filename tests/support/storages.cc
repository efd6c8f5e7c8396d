#include "tests/support/storages.h"

#include "lock/memory_lock_storage.h"
#include "lock/redis/redis_fair_lock_storage.h"
#include "lock/redis/redis_pubsub_lock_storage.h"
#include "lock/redis/redis_spin_lock_storage.h"
#include "lock/redis/redlock_lock_storage.h"
#include "tests/support/one_client.h"
#include "tests/support/redis_server.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace festa::test {

namespace {

std::int64_t countUp(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  std::int64_t last = 0;
  bool done = false;
  if (file >= 0 && flock(file, LOCK_EX) == 0) {
    const auto had = pread(file, &last, sizeof last, 0);
    ++last;
    done = (had == 0 || had == sizeof last) && pwrite(file, &last, sizeof last, 0) == sizeof last;
  }
  if (file >= 0) close(file);  // gives the lock back as well
  if (!done) throw std::runtime_error("no epoch from " + path);
  return last;
}

class FileEpochs : public lock::EpochSource {
 public:
  explicit FileEpochs(std::string file) : file_(std::move(file)) {}
  drogon::Task<std::int64_t> draw() override { co_return countUp(file_); }

 private:
  const std::string file_;
};

class CountedEpochs : public lock::EpochSource {
 public:
  drogon::Task<std::int64_t> draw() override { co_return ++last_; }

 private:
  std::atomic<std::int64_t> last_{0};
};

lock::RedisCommands& commandsOn(int port, lock::Millis patience) {
  return keptCommands(RedisServer::connectTo(port, 1, patience));
}

std::shared_ptr<lock::LockStorage> makeSpin(const StorageOptions& options) {
  return std::make_shared<lock::RedisSpinLockStorage>(
      commandsOn(options.ports.at(0), options.patience), lock::RedisKeys(options.prefix, "spin"),
      *options.epochs, lock::SpinSettings{.maxWaiters = options.maxWaiters});
}

template <class Storage>
std::shared_ptr<lock::LockStorage> makeLine(const StorageOptions& options, Loops& loops,
                                            const std::string& name) {
  const auto port = options.ports.at(0);
  auto& commands = commandsOn(port, options.patience);
  const auto& listener =
      keptClient(RedisServer::connectTo(options.messages == 0 ? port : options.messages));
  const lock::LockTableLimits limits{options.maxWaiters, 1'000'000};
  return std::make_shared<Storage>(commands, lock::RedisKeys(options.prefix, name), *options.epochs,
                                   lock::LineSurroundings{loops.at(0), listener, limits});
}

std::shared_ptr<lock::LockStorage> makeRedlock(const StorageOptions& options) {
  lock::RedlockSettings settings;
  settings.nodeTimeout = options.patience;
  settings.longestLease = lock::Millis{30'000};
  settings.spin.maxWaiters = options.maxWaiters;
  std::vector<const lock::RedisClientSource*> servers;
  for (const int port : options.ports)
    servers.push_back(&keptClient(RedisServer::connectTo(port, 1, options.patience)));
  return std::make_shared<lock::RedlockLockStorage>(
      servers, lock::RedlockKeys(options.prefix, "redlock"), *options.epochs, settings);
}

}  // namespace

std::shared_ptr<lock::LockStorage> makeStorage(const StorageOptions& options, Loops& loops) {
  if (options.name == "memory") {
    const auto epoch = runOn(loops.at(0), [&] { return options.epochs->draw(); });
    return lock::MemoryLockStorage::create(epoch, loops.at(0),
                                           {.waitersPerKey = options.maxWaiters});
  }
  // Never destroyed, as their clients are not: replies may come when a test is over.
  static auto& kept = *new std::vector<std::shared_ptr<lock::LockStorage>>;
  static auto& keptEpochs = *new std::vector<std::shared_ptr<lock::EpochSource>>;
  keptEpochs.push_back(options.epochs);
  if (options.name == "redis-spin") return kept.emplace_back(makeSpin(options));
  if (options.name == "redis-fair")
    return kept.emplace_back(makeLine<lock::RedisFairLockStorage>(options, loops, "fair"));
  if (options.name == "redis-pubsub")
    return kept.emplace_back(makeLine<lock::RedisPubSubLockStorage>(options, loops, "pubsub"));
  if (options.name == "redlock") return kept.emplace_back(makeRedlock(options));
  throw std::invalid_argument("there is no storage " + options.name);
}

std::shared_ptr<lock::EpochSource> countedEpochs() {
  static const auto all = std::make_shared<CountedEpochs>();
  return all;
}

std::shared_ptr<lock::EpochSource> epochsFrom(const std::string& file) {
  return std::make_shared<FileEpochs>(file);
}

}  // namespace festa::test
