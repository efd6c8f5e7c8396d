#include "lock/redis/redis_fair_lock_storage.h"

#include "tests/contract/lock_storage_contract.h"
#include "tests/support/redis_server.h"
#include "tests/support/storages.h"

namespace festa::test {

namespace {

const StorageKind kRedisFair{"RedisFair", [](Loops& loops, StorageLimits limits) {
                               sharedRedis().command({"FLUSHALL"});
                               return makeStorage({.name = "redis-fair",
                                                   .epochs = countedEpochs(),
                                                   .ports = {sharedRedis().port()},
                                                   .maxWaiters = limits.waitersPerKey},
                                                  loops);
                             }};

}  // namespace

INSTANTIATE_TEST_SUITE_P(RedisFair, LockStorageContract, testing::Values(kRedisFair), nameOfKind);
INSTANTIATE_TEST_SUITE_P(RedisFair, FifoLockStorageContract, testing::Values(kRedisFair),
                         nameOfKind);

}  // namespace festa::test
