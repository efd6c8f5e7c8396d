// Waiters that a living process has failed leave their places in the server's line.
#include "tests/contract/redis_line_test.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;
using lock::RedisFairLockStorage;

constexpr Millis kLong{30'000};
constexpr int kCrowd = kSanitized ? 300 : 3000;
// With the server's answer to the last of a crowd that arrives at once.
constexpr Millis kCrowdPatience{2500};

class RedisPlaces : public testing::Test {
 protected:
  using StoragePtr = std::shared_ptr<RedisFairLockStorage>;
  using Future = std::future<std::optional<Lease>>;

  ~RedisPlaces() override { redis_.process().signal(SIGCONT); }

  StoragePtr storage(int port = 0, Millis patience = Millis{2000}) {
    return ownStorage<RedisFairLockStorage>(loops_, port == 0 ? redis_.port() : port, 0, patience);
  }
  Future start(const StoragePtr& on, Millis lease = kLong) {
    const lock::LockRequest request{"k", kLong, lease};
    return startOn(loops_.at(1), [on, request] { return on->tryLock(request); });
  }
  std::vector<Future> startMany(const StoragePtr& on, int count, Millis lease = kLong) {
    std::vector<Future> all;
    for (int i = 0; i < count; ++i) all.push_back(start(on, lease));
    return all;
  }
  void giveBack(const StoragePtr& on, const Lease& lease) {
    runOn(loops_.at(1), [&] { return on->unlock(lease.clone()); });
  }
  long places() const { return std::stol(redis_.command({"ZCARD", "test:fair:line:k"})); }
  void resetStatistics() const { redis_.command({"CONFIG", "RESETSTAT"}); }

  // The next one to arrive is served by the very step in which the holder leaves.
  void expectQuickGrant(const StoragePtr& holder, const Lease& held) {
    const auto next = storage();
    auto waiting = start(next);
    ASSERT_TRUE(eventually([&] { return places() == 1; }));
    resetStatistics();
    giveBack(holder, held);
    EXPECT_TRUE(finish(std::move(waiting)));
    EXPECT_LE(redis_.calls("zpopmin"), 1);
    EXPECT_EQ(places(), 0);
  }

  Loops loops_{2};
  RedisServer redis_;
};

}  // namespace

TEST_F(RedisPlaces, AreLeftInFewCallsWhenTheStorageIsClosed) {
  const auto holder = storage();
  const auto crowd = storage(0, Millis{20'000});
  const auto held = *finish(start(holder));
  auto waiting = startMany(crowd, kCrowd);
  ASSERT_TRUE(eventually([&] { return places() == kCrowd; }));
  resetStatistics();
  crowd->close();
  for (auto& one : waiting) EXPECT_THROW(finish(std::move(one)), lock::LockClosed);
  EXPECT_TRUE(eventually([&] { return places() == 0; })) << places() << " places are left";
  // Those whose arrival was still being answered leave when they hear of it, a turn's together.
  EXPECT_LE(redis_.calls("evalsha") + redis_.calls("eval"), 20 + kCrowd / 30);
  expectQuickGrant(holder, held);
}

TEST_F(RedisPlaces, AreLeftWhenAServerThatWasAwayIsBack) {
  const auto holder = storage();
  const auto crowd = storage(0, kCrowdPatience);
  const auto held = *finish(start(holder));
  auto waiting = startMany(crowd, kCrowd);
  ASSERT_TRUE(eventually([&] { return places() == kCrowd; }));
  redis_.process().signal(SIGSTOP);
  for (auto& one : waiting) EXPECT_THROW(finish(std::move(one)), lock::LockStorageUnavailable);
  redis_.process().signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return places() == 0; })) << places() << " places are left";
  expectQuickGrant(holder, held);
}

// What was asked for is in line, and only the answers are lost.
TEST_F(RedisPlaces, AreLeftEvenWhenTheServerWasAwayForLongerThanTheirLease) {
  constexpr Millis kShort{200};
  TcpProxy proxy(redis_.port());
  const auto holder = storage();
  const auto crowd = storage(proxy.port(), Millis{2000});
  const auto held = *finish(start(holder));
  auto first = start(crowd, kShort);
  ASSERT_TRUE(eventually([&] { return places() == 1; }));
  proxy.swallowReplies();
  auto waiting = startMany(crowd, 100, kShort);
  ASSERT_TRUE(eventually([&] { return places() == 101; }));
  waiting.push_back(std::move(first));
  for (auto& one : waiting) EXPECT_THROW(finish(std::move(one)), lock::LockStorageUnavailable);
  const auto over = lock::SteadyClock::now() + 3 * kShort;
  ASSERT_TRUE(eventually([&] { return lock::SteadyClock::now() > over; }));
  proxy.cut();
  EXPECT_TRUE(eventually([&] { return places() == 0; })) << places() << " places are left";
  expectQuickGrant(holder, held);
}

// The same process goes on: it must not be offered the key once for each of its old places.
TEST_F(RedisPlaces, OfFailedWaitersDoNotDelayLaterOnesOfTheSameProcess) {
  const auto holder = storage();
  const auto crowd = storage(0, kCrowdPatience);
  const auto held = *finish(start(holder));
  auto waiting = startMany(crowd, kCrowd);
  ASSERT_TRUE(eventually([&] { return places() == kCrowd; }));
  redis_.process().signal(SIGSTOP);
  for (auto& one : waiting) EXPECT_THROW(finish(std::move(one)), lock::LockStorageUnavailable);
  redis_.process().signal(SIGCONT);
  Future again;
  // It may find the server away for a moment still.
  ASSERT_TRUE(eventually([&] {
    again = start(crowd);
    return again.wait_for(Millis{300}) == std::future_status::timeout;
  }));
  EXPECT_TRUE(eventually([&] { return places() == 1; })) << places() << " places";
  resetStatistics();
  giveBack(holder, held);
  EXPECT_TRUE(finish(std::move(again)));
  EXPECT_LE(redis_.calls("publish"), 5);
}

}  // namespace festa::test
