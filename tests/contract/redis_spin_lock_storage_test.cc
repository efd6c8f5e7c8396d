#include "lock/redis/redis_spin_lock_storage.h"

#include "tests/support/lock/storages.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/tcp_proxy.h"

#include <signal.h>

namespace festa::test {

namespace {

class RedisSpinTest : public testing::Test {
 protected:
  using Storage = std::shared_ptr<lock::LockStorage>;

  Storage spinOn(int port) {
    return makeStorage(
        {.name = lock::RedisSpinLockStorage::kName, .epochs = countedEpochs(), .ports = {port}},
        loops_);
  }

  std::optional<lock::Lease> take(const Storage& storage, const std::string& key,
                                  lock::Millis wait = lock::Millis{0},
                                  lock::Millis lease = lock::Millis{30'000}) {
    const lock::LockRequest request{key, wait, lease};
    return runOn(loops_.at(), [storage, request] { return storage->tryLock(request); });
  }
  lock::Unlocked giveBack(const Storage& storage, const lock::Lease& lease) {
    return runOn(loops_.at(), [&] { return storage->unlock(lease.clone()); });
  }

  struct EpochsElsewhere : lock::EpochSource {
    drogon::Task<std::int64_t> draw() override {
      co_await drogon::switchThreadCoro(loops.at());
      if (isBroken) throw std::runtime_error("no epoch to be had");
      co_return 1;
    }

    const Loops loops;
    std::atomic<bool> isBroken = true;
  };
  static drogon::Task<trantor::EventLoop*> loopAfterTake(Storage storage) {
    const lock::LockRequest request{"k", lock::Millis{0}, lock::Millis{30'000}};
    try {
      co_await storage->tryLock(request);
    } catch (const std::runtime_error&) {
      // Where it is thrown is what matters.
    }
    co_return trantor::EventLoop::getEventLoopOfCurrentThread();
  }

  Loops loops_;
  RedisServer redis_;
};

}  // namespace

TEST_F(RedisSpinTest, AnUncontendedLockAndUnlockAreTwoCommands) {
  const auto storage = spinOn(redis_.port());
  giveBack(storage, *take(storage, "warm"));  // scripts and epoch are known from here on
  redis_.command({"CONFIG", "RESETSTAT"});
  for (int i = 0; i < 10; ++i) giveBack(storage, *take(storage, "k" + std::to_string(i)));
  EXPECT_EQ(redis_.calls("evalsha"), 20);
  EXPECT_EQ(redis_.calls("eval"), 0);
  EXPECT_EQ(redis_.calls("publish"), 0);
}

TEST_F(RedisSpinTest, TwoProcessesExcludeEachOther) {
  const auto one = spinOn(redis_.port());
  const auto other = spinOn(redis_.port());
  const auto held = take(one, "k");
  ASSERT_TRUE(held);
  EXPECT_FALSE(take(other, "k"));
  EXPECT_EQ(giveBack(other, *held), lock::Unlocked::kReleased) << "the owner counts, not who asks";
  EXPECT_TRUE(take(other, "k"));
}

TEST_F(RedisSpinTest, FencesDoNotGoBackAfterFlushallOrAnEmptyRestart) {
  const auto storage = spinOn(redis_.port());
  const auto before = take(storage, "k");
  ASSERT_TRUE(before);
  redis_.command({"FLUSHALL"});
  const auto flushed = take(storage, "k");
  ASSERT_TRUE(flushed);
  EXPECT_GT(flushed->fence, before->fence);
  redis_.kill();
  redis_.start();
  std::optional<lock::Lease> restarted;
  ASSERT_TRUE(eventually([&] {
    try {
      restarted = take(storage, "k");
    } catch (const lock::LockStorageUnavailable&) {
    }
    return restarted.has_value();
  }));
  EXPECT_GT(restarted->fence, flushed->fence);
}

// Such as a database client with threads of its own.
TEST_F(RedisSpinTest, AnEpochSourceThatEndsOnAnotherLoopDoesNotMoveTheCaller) {
  const auto epochs = std::make_shared<EpochsElsewhere>();
  const auto storage = makeStorage(
      {.name = lock::RedisSpinLockStorage::kName, .epochs = epochs, .ports = {redis_.port()}},
      loops_);
  EXPECT_EQ(runOn(loops_.at(), [&] { return loopAfterTake(storage); }), loops_.at());
  epochs->isBroken = false;
  EXPECT_EQ(runOn(loops_.at(), [&] { return loopAfterTake(storage); }), loops_.at());
  EXPECT_FALSE(take(storage, "k")) << "it was not taken";
}

TEST_F(RedisSpinTest, AHolderLearnsFromItsExtendThatTheServerForgotIt) {
  const auto storage = spinOn(redis_.port());
  auto held = take(storage, "k");
  ASSERT_TRUE(held);
  redis_.command({"FLUSHALL"});
  lock::Extension longer;
  longer.lease = lock::Millis{1000};
  EXPECT_FALSE(runOn(loops_.at(), [&] { return storage->extend(*held, longer); }));
  EXPECT_EQ(giveBack(storage, *held), lock::Unlocked::kLost);
}

TEST_F(RedisSpinTest, ScriptsForgottenByTheServerAreSentAgainAndRunOnce) {
  const auto storage = spinOn(redis_.port());
  const auto first = take(storage, "k");
  ASSERT_TRUE(first);
  redis_.command({"SCRIPT", "FLUSH"});
  EXPECT_EQ(giveBack(storage, *first), lock::Unlocked::kReleased);
  redis_.command({"SCRIPT", "FLUSH"});
  const auto second = take(storage, "k");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->fence, first->fence + 1) << "the attempt ran twice";
}

TEST_F(RedisSpinTest, AnAcquireWhoseReplyIsLostIsGivenBackByItsOwner) {
  TcpProxy proxy(redis_.port());
  const auto through = spinOn(proxy.port());
  const auto direct = spinOn(redis_.port());
  giveBack(through, *take(through, "warm"));
  const auto tokens = redis_.command({"GET", "test:fence"});
  proxy.swallowReplies();
  EXPECT_THROW(take(through, "k"), lock::LockStorageUnavailable);
  EXPECT_NE(redis_.command({"GET", "test:fence"}), tokens)
      << "the test wanted a grant without a reply";
  proxy.cut();
  // Long before the lease of 30 s is over.
  EXPECT_TRUE(take(direct, "k", lock::Millis{15'000}));
}

TEST_F(RedisSpinTest, AFrozenServerIsFoundAwayOnceAndNoticedWhenItIsBack) {
  const auto storage = spinOn(redis_.port());
  giveBack(storage, *take(storage, "warm"));
  redis_.process().signal(SIGSTOP);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(take(storage, "k"), lock::LockStorageUnavailable);
  // The breaker is open: without it each of these would wait for a time-out of 2 s.
  const auto started = lock::SteadyClock::now();
  for (int i = 0; i < 20; ++i) EXPECT_THROW(take(storage, "k"), lock::LockStorageUnavailable);
  EXPECT_LT(lock::SteadyClock::now() - started, lock::Millis{5000});
  redis_.process().signal(SIGCONT);
  EXPECT_TRUE(eventually([&] {
    try {
      return take(storage, "other").has_value();
    } catch (const lock::LockStorageUnavailable&) {
      return false;
    }
  }));
}

TEST_F(RedisSpinTest, KeysAndOwnersMayHoldAnyBytes) {
  const auto storage = spinOn(redis_.port());
  const std::string odd("a\0b %s %b\r\n\xff", 13);
  const auto held = take(storage, odd);
  ASSERT_TRUE(held);
  EXPECT_FALSE(take(storage, odd));
  EXPECT_TRUE(take(storage, std::string("a\0c", 3)));
  EXPECT_EQ(giveBack(storage, *held), lock::Unlocked::kReleased);
}

}  // namespace festa::test
