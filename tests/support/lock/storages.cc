#include "tests/support/lock/storages.h"

#include "tests/support/lock/one_client.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/redlock_nodes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
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

drogon::nosql::RedisClientPtr clientOf(const StorageOptions& options, int port) {
  static auto& shared = *new std::map<int, drogon::nosql::RedisClientPtr>;
  if (!options.sharesClients) return RedisServer::connectTo(port, 1, options.patience);
  auto& client = shared[port];
  if (!client) client = RedisServer::connectTo(port, 1, options.patience);
  return client;
}

lock::StorageSurroundings::OneRedis oneRedis(const StorageOptions& options) {
  const auto port = options.ports.at(0);
  auto& commands = keptCommands(clientOf(options, port));
  const auto messages = options.messages == 0 ? port : options.messages;
  return {commands, keptClient(RedisServer::connectTo(messages)), *options.epochs, options.prefix};
}

lock::StorageSurroundings::RedlockNodes redlockNodes(const StorageOptions& options) {
  lock::StorageSurroundings::RedlockNodes nodes{
      {}, *options.epochs, options.prefix, options.patience, lock::Millis{30'000}};
  for (const int port : options.ports)
    nodes.clients.push_back(&keptClient(clientOf(options, port)));
  return nodes;
}

// Without a line, a storage does not know how many wait for a key: it bounds all waiters together.
lock::LockTableLimits limitsOf(const StorageOptions& options, const lock::StorageRow& row) {
  const bool hasLine = row.order != lock::Order::kNone;
  return {options.maxWaiters, hasLine ? 1'000'000 : options.maxWaiters};
}

}  // namespace

std::shared_ptr<lock::LockStorage> makeStorage(const StorageOptions& options, Loops& loops) {
  const auto* const row = lock::findStorage(options.name);
  if (row == nullptr) throw std::invalid_argument("there is no storage " + options.name);
  lock::StorageSurroundings around{loops.at(0), 0, limitsOf(options, *row)};
  if (row->needs == lock::Servers::kNone) {
    around.epoch = runOn(loops.at(0), [&] { return options.epochs->draw(); });
    return row->makeIn(around);
  }
  if (row->needs == lock::Servers::kRedis) around.redis.emplace(oneRedis(options));
  if (row->needs == lock::Servers::kRedlock) around.redlock.emplace(redlockNodes(options));
  // Never destroyed, as their clients are not: replies may come when a test is over.
  static auto& kept = *new std::vector<std::shared_ptr<lock::LockStorage>>;
  static auto& keptEpochs = *new std::vector<std::shared_ptr<lock::EpochSource>>;
  keptEpochs.push_back(options.epochs);
  return kept.emplace_back(row->makeIn(around));
}

StorageOptions onSharedServers(const std::string& name) {
  // Nothing is tested here with servers that do not answer, but on machines that are busy.
  StorageOptions options{.name = name,
                         .epochs = countedEpochs(),
                         .patience = lock::Millis{5000},
                         .sharesClients = true};
  const auto needs = lock::findStorage(name)->needs;
  if (needs == lock::Servers::kRedis) {
    sharedRedis().command({"FLUSHALL"});
    options.ports = {sharedRedis().port()};
  } else if (needs == lock::Servers::kRedlock) {
    auto& nodes = sharedRedlockNodes();
    nodes.reset(options.prefix);
    for (std::size_t i = 0; i < RedlockNodes::kCount; ++i)
      options.ports.push_back(nodes.at(i).port());
  }
  return options;
}

std::vector<std::string> storageNames(
    const std::function<bool(const lock::StorageRow&)>& promises) {
  std::vector<std::string> names;
  for (const auto& row : lock::storageTable())
    if (!promises || promises(row)) names.emplace_back(row.name);
  return names;
}

std::string nameOfStorage(const testing::TestParamInfo<std::string>& info) {
  auto name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::shared_ptr<lock::EpochSource> countedEpochs() {
  static const auto all = std::make_shared<CountedEpochs>();
  return all;
}

std::shared_ptr<lock::EpochSource> epochsFrom(const std::string& file) {
  return std::make_shared<FileEpochs>(file);
}

}  // namespace festa::test
