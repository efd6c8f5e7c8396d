// Epochs on a real server that loses its counter while one is being drawn.
#include "lock/redis/redis_epoch.h"

#include "lock/redis/redlock/redlock_node.h"
#include "tests/contract/redis_line_test.h"
#include "tests/support/lock/epoch_model.h"
#include "tests/support/lock/one_client.h"

#include <gtest/gtest.h>

#include <random>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;
using lock::NodeReply;

constexpr Millis kLong{30'000};

// The sequence of a database. The next draw after hold() has its number and is answered only after
// release(). Thread-safe.
class HeldEpochs : public lock::EpochSource {
 public:
  drogon::Task<std::int64_t> draw() override {
    const std::int64_t epoch = ++last_;
    if (holdsNext_.exchange(false)) {
      isHolding_ = true;
      auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
      while (isHolding_) co_await drogon::sleepCoro(loop, 0.002);
      if (fails_.exchange(false)) throw lock::LockStorageUnavailable("the database is away");
    }
    co_return epoch;
  }

  void hold() { holdsNext_ = true; }
  bool isHolding() const { return isHolding_; }
  void release() { isHolding_ = false; }
  // The draw that is held has no answer.
  void failHeld() {
    fails_ = true;
    release();
  }
  std::int64_t drawn() const { return last_; }

 private:
  std::atomic<std::int64_t> last_{0};
  std::atomic<bool> holdsNext_{false};
  std::atomic<bool> isHolding_{false};
  std::atomic<bool> fails_{false};
};

std::int64_t epochOf(std::int64_t token) {
  return token >> 32;
}

}  // namespace

TEST(RedisEpochScripts, AnswerAsTheModelDoes) {
  Loops loops;
  RedisServer redis;
  auto& commands = keptCommands(redis.connect());
  const lock::RedisKeys keys("test", "any");
  EpochModel model;
  // Marks as the server and as the model know them.
  std::vector<std::pair<std::string, std::string>> marks{{"junk", "junk"}};
  std::mt19937 random(20261117);
  const auto roll = [&](std::size_t below) { return random() % below; };
  int installed = 0;
  for (int i = 0; i < 600; ++i) {
    if (roll(10) == 0) {
      redis.command({"FLUSHALL"});
      model.flush();
    } else if (roll(10) == 0) {
      redis.command({"DEL", keys.fence()});
      model.loseCounter();
    } else if (roll(2) == 0) {
      const auto nonce = "nonce-" + std::to_string(i);
      const auto floor = roll(4) == 0 ? std::int64_t{i} << 32 : 0;
      const auto real =
          runOn(loops.at(), [&] { return lock::markLoss(commands, keys, nonce, floor); });
      const auto expected = model.mark(nonce, floor);
      ASSERT_EQ(real.empty(), expected.empty());
      if (!real.empty()) marks.emplace_back(real, expected);
    } else {
      const auto& [real, expected] =
          marks[marks.size() - 1 - roll(std::min<std::size_t>(3, marks.size()))];
      const auto epoch = static_cast<std::int64_t>(1 + roll(600));
      const bool isInstalled =
          runOn(loops.at(), [&] { return lock::installEpoch(commands, keys, real, epoch); });
      ASSERT_EQ(isInstalled, model.install(expected, epoch));
      installed += isInstalled ? 1 : 0;
    }
    const auto fence = model.fence();
    ASSERT_EQ(redis.command({"GET", keys.fence()}), fence ? std::to_string(*fence) : "");
  }
  EXPECT_GT(installed, 20);
}

template <class Storage>
class RedisEpochTest : public testing::Test {
 protected:
  using StoragePtr = std::shared_ptr<lock::LockStorage>;

  StoragePtr storage() {
    return makeStorage({.name = Storage::kName,
                        .epochs = epochs_,
                        .ports = {redis_.port()},
                        .patience = Millis{5000}},
                       loops_);
  }
  std::future<std::optional<Lease>> start(const StoragePtr& on, const std::string& key) {
    const lock::LockRequest request{key, kLong, kLong};
    return startOn(loops_.at(1), [on, request] { return on->tryLock(request); });
  }
  Lease take(const StoragePtr& on, const std::string& key) {
    return finish(start(on, key)).value();
  }

  Loops loops_{2};
  RedisServer redis_;
  const std::shared_ptr<HeldEpochs> epochs_ = std::make_shared<HeldEpochs>();
};

using SingleServerStorages = testing::Types<lock::RedisSpinLockStorage, lock::RedisFairLockStorage,
                                            lock::RedisPubSubLockStorage>;
TYPED_TEST_SUITE(RedisEpochTest, SingleServerStorages, NamesOfStorages);

TYPED_TEST(RedisEpochTest, EpochDrawnBeforeASecondLossIsNotInstalledAfterIt) {
  const auto slow = this->storage();
  const auto quick = this->storage();
  this->epochs_->hold();
  auto waiting = this->start(slow, "k");
  ASSERT_TRUE(eventually([&] { return this->epochs_->isHolding(); }));
  const auto before = this->take(quick, "other");
  ASSERT_EQ(epochOf(before.fence), 2);
  this->redis_.command({"FLUSHALL"});
  this->epochs_->release();
  const auto after = finish(std::move(waiting));
  ASSERT_TRUE(after);
  EXPECT_GT(after->fence, before.fence) << "tokens went back";
  EXPECT_EQ(epochOf(after->fence), 3);
}

TYPED_TEST(RedisEpochTest, EpochDrawnBeforeTheServerRestartsIsNotInstalledAfterIt) {
  const auto slow = this->storage();
  const auto quick = this->storage();
  this->epochs_->hold();
  auto waiting = this->start(slow, "k");
  ASSERT_TRUE(eventually([&] { return this->epochs_->isHolding(); }));
  const auto before = this->take(quick, "other");
  this->redis_.kill();
  this->redis_.start();
  this->epochs_->release();
  std::optional<Lease> after;
  ASSERT_TRUE(eventually([&] {
    try {
      after = waiting.valid() ? finish(std::move(waiting)) : this->take(slow, "k");
    } catch (const lock::LockStorageUnavailable&) {
    }
    return after.has_value();
  }));
  EXPECT_GT(after->fence, before.fence) << "tokens went back";
}

TYPED_TEST(RedisEpochTest, EpochThatAnotherProcessHasInstalledMeanwhileIsEnough) {
  const auto slow = this->storage();
  const auto quick = this->storage();
  this->epochs_->hold();
  auto waiting = this->start(slow, "k");
  ASSERT_TRUE(eventually([&] { return this->epochs_->isHolding(); }));
  const auto before = this->take(quick, "other");
  this->epochs_->release();
  const auto after = finish(std::move(waiting));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->fence, before.fence + 1);
  EXPECT_EQ(this->epochs_->drawn(), 2);
}

// The counter is a copy, perhaps without the last tokens, and the server knows no scripts: as after
// a failover to a replica.
TYPED_TEST(RedisEpochTest, WhoWaitedForADrawThatFailedDoesNotTrustTheCounter) {
  const auto storage = this->storage();
  const auto before = this->take(storage, "k");
  this->redis_.command({"SET", "test:home", "another server"});
  this->redis_.command({"SCRIPT", "FLUSH"});
  this->epochs_->hold();
  auto first = this->start(storage, "k1");
  ASSERT_TRUE(eventually([&] { return this->epochs_->isHolding(); }));
  const auto calls = this->redis_.calls("evalsha");
  auto second = this->start(storage, "k2");
  // It has asked for the key and then whether the counter is at home.
  ASSERT_TRUE(eventually([&] { return this->redis_.calls("evalsha") == calls + 2; }));
  this->epochs_->failHeld();
  EXPECT_THROW(finish(std::move(first)), lock::LockStorageUnavailable);
  const auto after = finish(std::move(second));
  ASSERT_TRUE(after);
  EXPECT_GT(epochOf(after->fence), epochOf(before.fence));
}

// A node of a Redlock has a counter of its own; only the largest of a majority's becomes a token,
// but the majority may consist of nodes that have lost theirs since.
TEST(RedlockEpoch, EpochDrawnBeforeASecondLossOfANodeIsNotInstalledAfterIt) {
  Loops loops;
  RedisServer redis;
  HeldEpochs epochs;
  const auto nodeOf = [&] {
    return std::make_shared<lock::RedlockNode>(
        keptClient(redis.connect()), lock::RedlockKeys("test", "redlock"), epochs, Millis{20});
  };
  int owners = 0;
  const auto start = [&](const std::shared_ptr<lock::RedlockNode>& node) {
    return startOn(loops.at(), [node, owner = "owner-" + std::to_string(++owners)] {
      return node->take("key-of-" + owner, owner, Millis{20});
    });
  };
  // Again and again while it is in quarantine.
  const auto numberOf = [&](const std::shared_ptr<lock::RedlockNode>& node) {
    NodeReply reply;
    EXPECT_TRUE(eventually([&] {
      reply = finish(start(node));
      return reply.kind == NodeReply::Kind::kYes;
    }));
    return reply.number;
  };
  const auto slow = nodeOf();
  const auto quick = nodeOf();
  epochs.hold();
  std::vector<std::future<NodeReply>> waiting;
  ASSERT_TRUE(eventually([&] {
    waiting.push_back(start(slow));
    waiting.back().wait_for(Millis{50});
    return epochs.isHolding();
  }));
  const auto before = numberOf(quick);
  ASSERT_EQ(epochOf(before), 2);
  redis.command({"FLUSHALL"});
  epochs.release();
  for (auto& one : waiting) finish(std::move(one));
  EXPECT_GT(numberOf(quick), before) << "numbers went back";
}

}  // namespace festa::test
