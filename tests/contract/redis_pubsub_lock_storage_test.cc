#include "lock/redis/line/redis_line.h"

#include "tests/contract/redis_line_test.h"

namespace festa::test {

// A process with many waiters of its own lets others in.
TEST(RedisPubSub, AnotherProcessIsServedAfterSixteenHandOffsInARow) {
  sharedRedis().command({"FLUSHALL"});
  Loops loops(3);
  const auto busy = ownStorage<lock::RedisPubSubLockStorage>(loops, sharedRedis().port());
  const auto other = ownStorage<lock::RedisPubSubLockStorage>(loops, sharedRedis().port());
  const lock::LockRequest request{"k", lock::Millis{30'000}, lock::Millis{30'000}};
  const auto held = runOn(loops.at(1), [&] { return busy->tryLock(request); });
  ASSERT_TRUE(held);
  std::atomic<int> handOffs{0};
  std::atomic<int> before{-1};
  const auto own = [&]() -> drogon::Task<> {
    auto lease = co_await busy->tryLock(request);
    ++handOffs;
    co_await busy->unlock(std::move(*lease));
  };
  const auto foreign = [&]() -> drogon::Task<> {
    auto lease = co_await other->tryLock(request);
    before = handOffs.load();
    co_await other->unlock(std::move(*lease));
  };
  std::vector<std::future<void>> all;
  all.push_back(startOn(loops.at(2), [&] { return foreign(); }));
  ASSERT_TRUE(eventually([&] {
    return sharedRedis().command({"ZCARD", "test:pubsub:line:k"}) == "1";
  }));
  for (int i = 0; i < 100; ++i) all.push_back(startOn(loops.at(1), [&] { return own(); }));
  ASSERT_TRUE(eventually([&] { return busy->waiters() == 100; }));
  runOn(loops.at(1), [&] { return busy->unlock(held->clone()); });
  for (auto& one : all) finish(std::move(one));
  EXPECT_EQ(handOffs, 100);
  EXPECT_LE(before, lock::kInARow);
  EXPECT_GE(before, 1) << "the process's own waiters come first";
}

}  // namespace festa::test
