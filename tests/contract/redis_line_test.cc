// What the storages with a line have in common: one line on a real server, several processes
// (each a storage with its own name, clients and subscription), faults made for real.
#include "tests/contract/redis_line_test.h"

#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <random>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;
using lock::SteadyClock;
using lock::Unlocked;

constexpr Millis kLong{30'000};
constexpr std::array kCrowds{10, kSanitized ? 100 : 1000, kSanitized ? 400 : 10'000};

// Places in the server's line; the two storages have different prefixes and never share a test.
long inLine(const RedisServer& redis, const std::string& key) {
  return std::stol(redis.command({"ZCARD", "test:fair:line:" + key})) +
         std::stol(redis.command({"ZCARD", "test:pubsub:line:" + key}));
}

// Commands that clients have sent since the last CONFIG RESETSTAT.
long sent(const RedisServer& redis) {
  return redis.calls("evalsha") + redis.calls("eval") + redis.calls("subscribe");
}

}  // namespace

template <class Storage>
class RedisLineTest : public testing::Test {
 protected:
  using StoragePtr = std::shared_ptr<Storage>;
  using Future = std::future<std::optional<Lease>>;

  StoragePtr storage(int port = 0, int messages = 0) {
    return ownStorage<Storage>(loops_, port == 0 ? redis_.port() : port, messages);
  }

  // For crowds: of ten thousand that arrive at once on a busy machine, the last may wait longer for
  // the server's answer than a client would.
  StoragePtr patientStorage() {
    return ownStorage<Storage>(loops_, redis_.port(), 0, Millis{20'000});
  }

  // Takes the hot key, counts, and gives it back; false: it came to nothing in time.
  static drogon::Task<bool> oneTurn(StoragePtr on, Millis wait,
                                    std::shared_ptr<std::atomic<int>> served) {
    const lock::LockRequest request{"hot", wait, kLong};
    auto lease = co_await on->tryLock(request);
    if (!lease) co_return false;
    ++*served;
    co_await on->unlock(std::move(*lease));
    co_return true;
  }

  Future start(const StoragePtr& on, const std::string& key, Millis wait = kLong,
               Millis lease = kLong) {
    const lock::LockRequest request{key, wait, lease};
    return startOn(loops_.at(1), [on, request] { return on->tryLock(request); });
  }
  std::optional<Lease> take(const StoragePtr& on, const std::string& key, Millis wait = kLong,
                            Millis lease = kLong) {
    return finish(start(on, key, wait, lease));
  }
  Unlocked giveBack(const StoragePtr& on, const Lease& lease) {
    return runOn(loops_.at(1), [&] { return on->unlock(lease.clone()); });
  }
  long sent() const { return test::sent(redis_); }
  void resetStatistics() const { redis_.command({"CONFIG", "RESETSTAT"}); }
  // Nothing was sent for a moment.
  bool isQuiet() const {
    const long before = sent();
    std::this_thread::sleep_for(Millis{50});
    return sent() == before;
  }
  long inLine(const std::string& key) const { return test::inLine(redis_, key); }

  // `count` waiters spread over the processes, each holding the key for a moment; the commands per
  // hand-off once they all wait.
  double commandsPerHandOff(int count, std::vector<StoragePtr> processes) {
    for (const auto& one : processes) giveBack(one, *take(one, "warm"));
    const auto held = take(processes[0], "hot");
    const auto served = std::make_shared<std::atomic<int>>(0);
    std::vector<std::future<bool>> all;
    for (int i = 0; i < count; ++i) {
      const auto& on = processes[static_cast<std::size_t>(i) % processes.size()];
      all.push_back(startOn(loops_.at(1 + static_cast<std::size_t>(i) % 2),
                            [on, served] { return oneTurn(on, Millis{120'000}, served); }));
    }
    const bool fair = std::is_same_v<Storage, lock::RedisFairLockStorage>;
    const long places = fair ? count : static_cast<long>(processes.size()) - 1;
    EXPECT_TRUE(eventually([&] { return inLine("hot") == places; }));
    // When its subscription stands, a process looks once for all its waiters.
    EXPECT_TRUE(eventually([&] { return isQuiet(); }));
    resetStatistics();
    giveBack(processes[0], *held);
    for (auto& one : all) finish(std::move(one));
    EXPECT_EQ(*served, count);
    return static_cast<double>(sent()) / count;
  }

  void SetUp() override { redis_.command({"FLUSHALL"}); }

  Loops loops_{3};
  RedisServer& redis_ = sharedRedis();
};

using LineStorages = testing::Types<lock::RedisFairLockStorage, lock::RedisPubSubLockStorage>;
TYPED_TEST_SUITE(RedisLineTest, LineStorages, NamesOfStorages);

TYPED_TEST(RedisLineTest, AnUncontendedLockAndUnlockAreTwoCommandsAndNothingIsPublished) {
  RedisServer redis;  // of its own: exact counts
  const auto storage = this->storage(redis.port());
  this->giveBack(storage, *this->take(storage, "warm"));
  redis.command({"CONFIG", "RESETSTAT"});
  for (int i = 0; i < 10; ++i) {
    const auto lease = this->take(storage, "k" + std::to_string(i), i % 2 == 0 ? Millis{0} : kLong);
    this->giveBack(storage, *lease);
  }
  EXPECT_EQ(sent(redis), 20);
  EXPECT_EQ(redis.calls("publish"), 0);
}

TYPED_TEST(RedisLineTest, AnIdleProcessSendsNothing) {
  RedisServer redis;  // of its own: exact counts
  const auto storage = this->storage(redis.port());
  const auto other = this->storage(redis.port());
  const auto held = this->take(storage, "k");
  auto waiting = this->start(other, "k");
  ASSERT_TRUE(eventually([&] { return inLine(redis, "k") == 1; }));
  this->giveBack(storage, *held);
  this->giveBack(other, *finish(std::move(waiting)));
  // Beats that were under way may still end. A process that went on would beat in any such time.
  EXPECT_TRUE(eventually([&] {
    redis.command({"CONFIG", "RESETSTAT"});
    std::this_thread::sleep_for(Millis{1200});
    return sent(redis) == 0;
  }));
}

TYPED_TEST(RedisLineTest, TheCostOfAHandOffDoesNotGrowWithTheWaiters) {
  const bool fair = std::is_same_v<TypeParam, lock::RedisFairLockStorage>;
  // In one process the unlock's reply is the next one's grant. Between processes an offer needs its
  // confirmation. The rest are beats and looks, which come with time.
  const double withTime = kSanitized ? 60 : 15;
  for (const int waiters : kCrowds) {
    const double most = 1.05 + withTime / waiters;
    EXPECT_LE(this->commandsPerHandOff(waiters, {this->patientStorage()}), most) << waiters;
  }
  for (const int waiters : kCrowds) {
    const double most = (fair ? 2.1 : 1.4) + (withTime + 25) / waiters;
    const auto one = this->patientStorage();
    const auto two = this->patientStorage();
    const auto three = this->patientStorage();
    EXPECT_LE(this->commandsPerHandOff(waiters, {one, two, three}), most) << waiters;
  }
}

TYPED_TEST(RedisLineTest, NothingIsLeftOnTheServerWhenAllIsGivenBack) {
  const auto one = this->patientStorage();
  const auto two = this->patientStorage();
  this->commandsPerHandOff(300, {one, two});
  // Fence, home and the counter of arrivals stay; lives end by themselves.
  EXPECT_TRUE(eventually([&] { return this->redis_.command({"DBSIZE"}) == "3"; }))
      << this->redis_.command({"KEYS", "*"});
  EXPECT_LE(std::stol(this->redis_.command({"PUBSUB", "NUMPAT"})), 0);
}

// A 13
TYPED_TEST(RedisLineTest, TenThousandWaitersOverThreeProcessesWithCancelsAllEnd) {
  constexpr int kWaiters = kSanitized ? 1000 : 10'000;
  const std::vector processes{this->patientStorage(), this->patientStorage(),
                              this->patientStorage()};
  const auto held = this->take(processes[0], "hot");
  ASSERT_TRUE(held);
  const auto served = std::make_shared<std::atomic<int>>(0);
  std::vector<std::future<bool>> impatient;
  std::vector<std::future<bool>> patient;
  for (int i = 0; i < kWaiters; ++i) {
    const bool givesUp = i % 10 == 9;
    const Millis wait{givesUp ? 300 : 120'000};
    (givesUp ? impatient : patient)
        .push_back(startOn(this->loops_.at(1 + static_cast<std::size_t>(i) % 2),
                           [served, on = processes[static_cast<std::size_t>(i) % 3], wait] {
                             return TestFixture::oneTurn(on, wait, served);
                           }));
  }
  for (auto& one : impatient) EXPECT_FALSE(finish(std::move(one)));
  this->giveBack(processes[0], *held);
  for (auto& one : patient) EXPECT_TRUE(finish(std::move(one)));
  EXPECT_EQ(*served, kWaiters - kWaiters / 10);
  EXPECT_EQ(this->inLine("hot"), 0);
}

TYPED_TEST(RedisLineTest, ProcessesExcludeEachOtherAndHandOver) {
  const auto one = this->storage();
  const auto two = this->storage();
  const auto held = this->take(one, "k");
  ASSERT_TRUE(held);
  EXPECT_FALSE(this->take(two, "k", Millis{0}));
  auto waiting = this->start(two, "k");
  ASSERT_TRUE(eventually([&] { return this->inLine("k") == 1; }));
  EXPECT_EQ(this->giveBack(one, *held), Unlocked::kReleased);
  const auto next = finish(std::move(waiting));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, held->fence);
  EXPECT_EQ(this->giveBack(one, *held), Unlocked::kLost);
  EXPECT_EQ(this->giveBack(two, *next), Unlocked::kReleased);
}

// A 6: the message is lost because the subscription is; the receiver looks by itself.
TYPED_TEST(RedisLineTest, AWakeUpThatIsLostCostsAtMostTheRemainingLease) {
  TcpProxy proxy(this->redis_.port());
  const auto one = this->storage();
  const auto two = this->storage(0, proxy.port());
  const auto before = this->take(one, "k");
  auto first = this->start(two, "k");
  ASSERT_TRUE(eventually([&] { return this->inLine("k") == 1; }));
  this->giveBack(one, *before);
  const auto heard = finish(std::move(first));
  this->giveBack(two, *heard);

  proxy.swallowReplies();
  const auto held = this->take(one, "k", kLong, Millis{1500});
  ASSERT_TRUE(held);
  auto waiting = this->start(two, "k");
  ASSERT_TRUE(eventually([&] { return this->inLine("k") == 1; }));
  const auto released = SteadyClock::now();
  this->giveBack(one, *held);
  ASSERT_TRUE(finish(std::move(waiting)));
  EXPECT_LT(SteadyClock::now() - released, Millis{1500} + lock::kOfferTime + Millis{1500});
}

// A 6: the very first wait of a process, its subscription does not stand yet.
TYPED_TEST(RedisLineTest, AnUnlockBeforeTheSubscriptionStandsWakesAllTheSame) {
  const auto one = this->storage();
  for (int round = 0; round < 5; ++round) {
    const auto fresh = this->storage();
    const auto held = this->take(one, "k", kLong, Millis{2000});
    auto waiting = this->start(fresh, "k");
    this->giveBack(one, *held);
    const auto lease = finish(std::move(waiting));
    ASSERT_TRUE(lease);
    this->giveBack(fresh, *lease);
  }
}

TYPED_TEST(RedisLineTest, ASubscriptionThatIsCutComesBack) {
  TcpProxy proxy(this->redis_.port());
  const auto one = this->storage();
  const auto two = this->storage(0, proxy.port());
  for (int round = 0; round < 3; ++round) {
    const auto held = this->take(one, "k", kLong, Millis{3000});
    auto waiting = this->start(two, "k");
    ASSERT_TRUE(eventually([&] { return this->inLine("k") == 1; }));
    proxy.cut();
    this->giveBack(one, *held);
    const auto lease = finish(std::move(waiting));
    ASSERT_TRUE(lease);
    this->giveBack(two, *lease);
  }
}

// A 8
TYPED_TEST(RedisLineTest, WaitersSurviveAServerThatForgetsThem) {
  const auto one = this->storage();
  const auto two = this->storage();
  auto held = this->take(one, "k", kLong, Millis{2000});
  ASSERT_TRUE(held);
  std::vector<typename TestFixture::Future> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(this->start(two, "k"));
  // Otherwise the last may arrive after the loss, before the others come back.
  const long places = std::is_same_v<TypeParam, lock::RedisFairLockStorage> ? 5 : 1;
  ASSERT_TRUE(eventually([&] { return this->inLine("k") == places; }));
  this->redis_.command({"FLUSHALL"});
  EXPECT_EQ(this->giveBack(one, *held), Unlocked::kLost);
  auto fence = held->fence;
  for (auto& one_ : waiting) {
    const auto lease = finish(std::move(one_));
    ASSERT_TRUE(lease);
    EXPECT_GT(lease->fence, fence);
    fence = lease->fence;
    this->giveBack(two, *lease);
  }
}

TYPED_TEST(RedisLineTest, WaitersOfAServerThatRestartsEmptyAreServedOrHearOfIt) {
  RedisServer redis;
  const auto one = this->storage(redis.port());
  const auto two = this->storage(redis.port());
  auto held = this->take(one, "k");
  ASSERT_TRUE(held);
  auto waiting = this->start(two, "k");
  ASSERT_TRUE(eventually([&] { return inLine(redis, "k") == 1; }));
  redis.kill();
  redis.start();
  std::optional<Lease> lease;
  try {
    lease = finish(std::move(waiting));
  } catch (const lock::LockStorageUnavailable&) {
    // It was away for long enough to be noticed; a waiter that asks again is served.
    ASSERT_TRUE(eventually([&] {
      try {
        lease = this->take(two, "k");
      } catch (const lock::LockStorageUnavailable&) {
      }
      return lease.has_value();
    }));
  }
  ASSERT_TRUE(lease);
  EXPECT_GT(lease->fence, held->fence);
}

TYPED_TEST(RedisLineTest, WaitersOfAServerThatIsAwayHearOfItBeforeTheirWaitEnds) {
  RedisServer redis;
  const auto one = this->storage(redis.port());
  const auto two = this->storage(redis.port());
  const auto held = this->take(one, "k");
  ASSERT_TRUE(held);
  auto waiting = this->start(two, "k");
  ASSERT_TRUE(eventually([&] { return inLine(redis, "k") == 1; }));
  redis.process().signal(SIGSTOP);
  EXPECT_THROW(finish(std::move(waiting)), lock::LockStorageUnavailable);
  redis.process().signal(SIGCONT);
}

// A 9
TYPED_TEST(RedisLineTest, ScriptsForgottenByTheServerAreSentAgainAndRunOnce) {
  const auto storage = this->storage();
  const auto first = this->take(storage, "k");
  this->redis_.command({"SCRIPT", "FLUSH"});
  EXPECT_EQ(this->giveBack(storage, *first), Unlocked::kReleased);
  this->redis_.command({"SCRIPT", "FLUSH"});
  const auto second = this->take(storage, "k");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->fence, first->fence + 1);
}

// A 3 and A 4
TYPED_TEST(RedisLineTest, AnAcquireOrUnlockWhoseReplyIsLostEndsByItsOwner) {
  TcpProxy proxy(this->redis_.port());
  const auto through = this->storage(proxy.port());
  const auto direct = this->storage();
  const auto held = this->take(through, "held");
  const auto tokens = this->redis_.command({"GET", "test:fence"});
  proxy.swallowReplies();
  EXPECT_THROW(this->take(through, "k"), lock::LockStorageUnavailable);
  EXPECT_NE(this->redis_.command({"GET", "test:fence"}), tokens) << "there was no grant";
  EXPECT_EQ(this->giveBack(through, *held), Unlocked::kUnknown);
  proxy.cut();
  // Long before the leases of 30 s are over.
  EXPECT_TRUE(this->take(direct, "k", Millis{15'000}));
  EXPECT_TRUE(this->take(direct, "held", Millis{15'000}));
}

// A 5, at random: waits that end while the key goes from process to process.
TYPED_TEST(RedisLineTest, CancelsAtTheMomentOfTheGrantLoseNoKey) {
  const std::vector processes{this->patientStorage(), this->patientStorage(),
                              this->patientStorage()};
  std::mt19937 random(5);
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> granted{0};
  const auto oneTurn = [&](std::shared_ptr<TypeParam> on, Millis wait) -> drogon::Task<> {
    const lock::LockRequest request{"k", wait, kLong};
    auto lease = co_await on->tryLock(request);
    if (!lease) co_return;
    ++granted;
    if (inside.fetch_add(1) != 0) ++overlaps;
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.001);
    inside.fetch_sub(1);
    co_await on->unlock(std::move(*lease));
  };
  std::vector<std::future<void>> all;
  for (int i = 0; i < 600; ++i) {
    const auto on = processes[random() % 3];
    const Millis wait{i % 3 == 0 ? 30'000 : 1 + static_cast<int>(random() % 200)};
    all.push_back(startOn(this->loops_.at(1 + random() % 2),
                          [&oneTurn, on, wait] { return oneTurn(on, wait); }));
  }
  for (auto& one : all) finish(std::move(one));
  EXPECT_EQ(overlaps, 0);
  EXPECT_GE(granted, 200);
  EXPECT_TRUE(this->take(processes[0], "k", Millis{5000}));
}

}  // namespace festa::test
