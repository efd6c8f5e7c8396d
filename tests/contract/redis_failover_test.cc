// Every storage on one Redis server when a replica takes its place.
#include "tests/contract/redis_line_test.h"
#include "tests/support/servers/tcp_proxy.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;

constexpr Millis kLong{30'000};
constexpr Millis kShort{3'000};

}  // namespace

template <class Storage>
class RedisFailover : public testing::Test {
 protected:
  using StoragePtr = std::shared_ptr<Storage>;

  StoragePtr storage(int port) { return ownStorage<Storage>(loops_, port); }
  std::optional<Lease> take(const StoragePtr& on, const std::string& key, Millis wait = kLong,
                            Millis lease = kLong) {
    const lock::LockRequest request{key, wait, lease};
    return runOn(loops_.at(1), [on, request] { return on->tryLock(request); });
  }
  void giveBack(const StoragePtr& on, const Lease& lease) {
    runOn(loops_.at(1), [&] { return on->unlock(lease.clone()); });
  }

  Loops loops_{2};
};

using SingleServerStorages = testing::Types<lock::RedisSpinLockStorage, lock::RedisFairLockStorage,
                                            lock::RedisPubSubLockStorage>;
TYPED_TEST_SUITE(RedisFailover, SingleServerStorages, NamesOfStorages);

// A 8: a replica takes over behind the same address, without the last grant.
TYPED_TEST(RedisFailover, FencesGrowAndHoldersLearnWhenAReplicaTakesOver) {
  RedisServer redis({"--repl-diskless-sync-delay", "0"});
  TcpProxy replication(redis.port());
  RedisServer replica({"--replicaof", "127.0.0.1", std::to_string(replication.port())});
  TcpProxy proxy(redis.port());
  const auto one = this->storage(proxy.port());
  const auto two = this->storage(proxy.port());
  this->giveBack(one, *this->take(one, "k"));
  this->giveBack(two, *this->take(two, "k"));
  // It has heard of everything so far, the last unlock included.
  redis.command({"SET", "marker", "heard"});
  ASSERT_TRUE(eventually([&] { return replica.command({"GET", "marker"}) == "heard"; }));
  replication.swallowReplies();  // it hears of nothing that follows
  auto held = this->take(one, "k");
  ASSERT_TRUE(held);
  for (int i = 0; i < 10; ++i) this->giveBack(one, *this->take(one, "other"));
  const auto last = this->take(one, "other");
  redis.kill();
  ASSERT_TRUE(eventually([&] { return replica.command({"REPLICAOF", "NO", "ONE"}) == "OK"; }));
  proxy.redirect(replica.port());
  proxy.cut();
  std::optional<Lease> next;
  ASSERT_TRUE(eventually([&] {
    try {
      // An attempt may reach the server after its client has given it up, even after its release:
      // the key then stays taken for the lease.
      next = this->take(two, "k", Millis{0}, kShort);
    } catch (const lock::LockStorageUnavailable&) {
    }
    return next.has_value();
  }));
  EXPECT_GT(next->fence, last->fence)
      << "tokens that the replica had not heard of were given again";
  lock::Extension longer;
  longer.lease = kLong;
  std::optional<bool> extended;
  ASSERT_TRUE(eventually([&] {
    try {
      extended = runOn(this->loops_.at(1), [&] { return one->extend(*held, longer); });
    } catch (const lock::LockStorageUnavailable&) {
      // Its connection comes back later than the other one's.
    }
    return extended.has_value();
  }));
  EXPECT_FALSE(*extended);
}

}  // namespace festa::test
