// Lock storages by their names, for tests in this process and for workers in their own.
#pragma once

#include "lock/redis/redis_epoch.h"
#include "lock/storages.h"
#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace festa::test {

struct StorageOptions {
  std::string name;                           // of a row of lock::storageTable()
  std::shared_ptr<lock::EpochSource> epochs;  // kept as long as the storage
  std::vector<int> ports = {};                // of Redis servers on 127.0.0.1
  std::string prefix = "test";                // of keys in Redis
  int messages = 0;                           // the port for subscriptions; 0: the first of `ports`
  std::size_t maxWaiters = 100'000;
  lock::Millis patience{2000};  // with a server's answer
  bool sharesClients = false;   // with other storages of this program on the same ports
};

// Timers run on `loops.at(0)`. Waits until the servers answer; throws std::invalid_argument for an
// unknown name. Not to be called on a loop.
std::shared_ptr<lock::LockStorage> makeStorage(const StorageOptions& options, Loops& loops);

// On the empty servers that this program's tests share, if it needs any.
StorageOptions onSharedServers(const std::string& name);

// The storages of the table, or those of them that promise what is asked.
std::vector<std::string> storageNames(
    const std::function<bool(const lock::StorageRow&)>& promises = nullptr);

// Of a test that runs once per storage.
std::string nameOfStorage(const testing::TestParamInfo<std::string>& info);

// 1, 2, … in this process.
std::shared_ptr<lock::EpochSource> countedEpochs();

// Counts in a file, so that the epochs of several processes are all different and grow.
std::shared_ptr<lock::EpochSource> epochsFrom(const std::string& file);

}  // namespace festa::test
