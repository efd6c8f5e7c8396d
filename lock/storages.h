// The table of lock storages: what each one promises, what it needs, and how it is made. Programs,
// tests and documents take their storages from here: a new one is its header, its source and its
// row.
#pragma once

#include "lock/drogon/client_source.h"
#include "lock/memory/waiting_line.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace festa::lock {

class EpochSource;    // redis/redis_epoch.h
class RedisCommands;  // redis/redis_commands.h

// The servers that a storage cannot do without.
enum class Servers {
  kNone,
  kRedis,    // one
  kRedlock,  // an odd number of independent ones
};

// For which waiters of a key the order of their arrival counts.
enum class Order {
  kNone,
  kInProcess,  // for those of one process
  kOverall,    // for all of them
};

// What the storages of one process are made of. Everything that it refers to outlives them, and
// they outlive the event loops on which they are used.
struct StorageSurroundings {
  struct OneRedis {
    RedisCommands& commands;
    const RedisClientSource& messages;  // whose client of `timers` may be subscribed
    EpochSource& epochs;
    std::string prefix;  // of all keys
  };
  struct RedlockNodes {
    std::vector<const RedisClientSource*> clients;  // one for each node
    EpochSource& epochs;
    std::string prefix;
    Millis timeout;  // a node that has not answered by then has failed
    Millis longestLease;
  };

  trantor::EventLoop* timers;  // no holder blocks it, and Redis commands may be sent on it
  std::int64_t epoch;          // of this process, see fence.h
  LockTableLimits limits = {};
  std::optional<OneRedis> redis = {};
  std::optional<RedlockNodes> redlock = {};

  bool have(Servers servers) const;
};

struct StorageRow {
  using Make = std::shared_ptr<LockStorage> (*)(const StorageSurroundings& around,
                                                const std::string& keys);

  const char* name;
  const char* keys = "";  // its part of the names of keys on its servers
  const char* what;       // in a few words
  const char* use;        // when it is the one to choose
  Servers needs = Servers::kNone;
  bool acrossProcesses = false;
  Order order = Order::kNone;
  bool followers = false;    // holders may follow each other under one lease: leastFollowerTime()
  bool sharesHolds = false;  // it grants one hold to several, see LockRequest::together
  bool recommended = false;  // the one to begin with, among those with the same `acrossProcesses`
  Make make;
  // Offers of a key that came too late for their receiver here; nullptr: it makes none.
  std::uint64_t (*offersMissed)(const LockStorage& storage) = nullptr;
  // Enough of its servers answer; nullptr: none are its own.
  drogon::Task<bool> (*answers)(LockStorage& storage) = nullptr;

  // `around` has what the storage needs. Shared, because timers of a storage may hold it weakly.
  std::shared_ptr<LockStorage> makeIn(const StorageSurroundings& around) const {
    return make(around, keys);
  }
};

// Those of this library: without those on Redis where it was built without redis/.
std::vector<StorageRow> builtInStorages();
std::vector<StorageRow> redisStorages();  // of redis/ alone, where that is built

// Those of this program: the built-in ones. A program that has more defines this function itself;
// storage_table.cc holds nothing else, so that the linker then leaves it out.
const std::vector<StorageRow>& storageTable();

// nullptr: there is none of that name.
const StorageRow* findStorage(const std::string& name);

}  // namespace festa::lock
