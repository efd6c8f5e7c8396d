#include "lock/redis/redlock/redlock_lock_storage.h"

#include "tests/support/lock/one_client.h"
#include "tests/support/lock/storages.h"
#include "tests/support/servers/redlock_nodes.h"
#include "tests/support/servers/tcp_proxy.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

namespace festa::test {

namespace {

using lock::Lease;
using lock::LockStorageUnavailable;
using lock::Millis;
using lock::SteadyClock;
using lock::Unlocked;
using Storage = std::shared_ptr<lock::RedlockLockStorage>;

constexpr std::size_t kNodes = RedlockNodes::kCount;
const std::string kPrefix = "test";
const lock::RedlockKeys kKeys(kPrefix, "redlock");
constexpr Millis kLong{30'000};
const lock::RedlockSettings kPatient{.nodeTimeout = Millis{2000}, .longestLease = kLong};
// Longer than a slow machine needs where a majority answers.
const lock::RedlockSettings kVeryPatient{.nodeTimeout = Millis{5000}, .longestLease = kLong};

Storage redlockOn(const std::vector<drogon::nosql::RedisClientPtr>& clients,
                  const lock::RedlockSettings& settings) {
  // Never destroyed, as their clients are not: replies may come when a test is over.
  static auto& kept = *new std::vector<Storage>;
  std::vector<const lock::RedisClientSource*> servers;
  for (const auto& client : clients) servers.push_back(&keptClient(client));
  return kept.emplace_back(
      std::make_shared<lock::RedlockLockStorage>(servers, kKeys, *countedEpochs(), settings));
}

// Five nodes of the test's own, to be broken.
class RedlockTest : public testing::Test {
 protected:
  RedlockTest() { nodes_.reset(kPrefix); }
  ~RedlockTest() override {
    // A frozen server would keep its clients waiting at the end of the program.
    for (std::size_t i = 0; i < kNodes; ++i) nodes_.at(i).process().signal(SIGCONT);
  }

  Storage make(const lock::RedlockSettings& settings = kPatient) {
    std::vector<drogon::nosql::RedisClientPtr> clients;
    for (std::size_t i = 0; i < kNodes; ++i)
      clients.push_back(RedisServer::connectTo(nodes_.at(i).port(), 1, settings.nodeTimeout));
    return redlockOn(clients, settings);
  }
  // For a slow machine. Only the doomed node is given up soon, because a split vote waits for it.
  Storage makeForTheDeathOf(std::size_t doomed) {
    std::vector<drogon::nosql::RedisClientPtr> clients;
    for (std::size_t i = 0; i < kNodes; ++i) {
      const auto patience = (i == doomed ? kPatient : kVeryPatient).nodeTimeout;
      clients.push_back(RedisServer::connectTo(nodes_.at(i).port(), 1, patience));
    }
    return redlockOn(clients, kVeryPatient);
  }
  // The first `count` nodes through proxies.
  Storage makeThrough(std::vector<std::unique_ptr<TcpProxy>>& proxies, std::size_t count,
                      std::size_t connections = 1) {
    std::vector<drogon::nosql::RedisClientPtr> clients;
    for (std::size_t i = 0; i < kNodes; ++i) {
      if (i < count) proxies.push_back(std::make_unique<TcpProxy>(nodes_.at(i).port()));
      clients.push_back(RedisServer::connectTo(
          i < count ? proxies.back()->port() : nodes_.at(i).port(), connections));
    }
    return redlockOn(clients, kPatient);
  }

  std::future<std::optional<Lease>> start(const Storage& storage, const std::string& key,
                                          Millis wait = Millis{0}, Millis lease = kLong) {
    const lock::LockRequest request{key, wait, lease};
    return startOn(loops_.at(), [storage, request] { return storage->tryLock(request); });
  }
  std::optional<Lease> take(const Storage& storage, const std::string& key, Millis wait = Millis{0},
                            Millis lease = kLong) {
    return finish(start(storage, key, wait, lease));
  }
  Unlocked giveBack(const Storage& storage, const Lease& lease) {
    return runOn(loops_.at(), [&] { return storage->unlock(lease.clone()); });
  }
  bool extend(const Storage& storage, Lease& lease, const lock::Extension& extension) {
    return runOn(loops_.at(),
                 [storage, &lease, extension] { return storage->extend(lease, extension); });
  }
  // Unavailable is not granted; nullopt after the patience.
  std::optional<Lease> takeInTheEnd(const Storage& storage, const std::string& key,
                                    Millis lease = kLong) {
    std::optional<Lease> held;
    eventually([&] {
      try {
        held = take(storage, key, Millis{0}, lease);
      } catch (const LockStorageUnavailable&) {
      }
      return held.has_value();
    });
    return held;
  }
  // All nodes have their epochs and know the scripts for a key and its release.
  void warmUp(const Storage& storage, Millis lease = kLong) {
    const auto held = take(storage, "warm", kLong, lease);
    ASSERT_TRUE(held);
    ASSERT_TRUE(eventually([&] { return holders("warm") == kNodes; }));
    giveBack(storage, *held);
    ASSERT_TRUE(eventually([&] { return isHeldNowhere("warm"); }));
  }

  void plant(std::size_t node, const std::string& key) {
    nodes_.at(node).command({"SET", kKeys.hold(key), "a stranger", "PX", "30000"});
  }
  std::string holder(std::size_t node, const std::string& key) {
    return nodes_.at(node).command({"GET", kKeys.hold(key)});
  }
  bool isHeldNowhere(const std::string& key) { return holders(key) == 0; }
  std::size_t holders(const std::string& key) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < kNodes; ++i) count += holder(i, key).empty() ? 0 : 1;
    return count;
  }
  bool answers(const Storage& storage) {
    return runOn(loops_.at(), [storage] { return storage->answers(); });
  }
  void signal(std::size_t first, std::size_t last, int number) {
    for (auto i = first; i <= last; ++i) nodes_.at(i).process().signal(number);
  }
  void restart(std::size_t node) {
    nodes_.at(node).kill();
    nodes_.at(node).start();
  }

  Loops loops_;
  RedlockNodes nodes_;
};

lock::Extension byTime(Millis lease) {
  lock::Extension extension;
  extension.lease = lease;
  return extension;
}

lock::Extension byFence(std::int64_t above) {
  lock::Extension extension;
  extension.fenceAbove = above;
  return extension;
}

}  // namespace

TEST(RedlockNodesTest, FewerThanThreeOrAnEvenNumberIsRefused) {
  for (const std::size_t count : {0, 1, 2, 4})
    EXPECT_THROW(redlockOn(std::vector<drogon::nosql::RedisClientPtr>(count), kPatient),
                 std::invalid_argument)
        << count;
}

// The key and the release of all nodes, the token of those that were quick enough to be counted.
TEST_F(RedlockTest, AnUncontendedLockAndUnlockAreThreeCommandsPerNodeAtMost) {
  const auto storage = make();
  warmUp(storage);
  const auto calls = [&] {
    long sum = 0;
    for (std::size_t i = 0; i < kNodes; ++i) sum += nodes_.at(i).calls("evalsha");
    return sum;
  };
  nodes_.command({"CONFIG", "RESETSTAT"});
  giveBack(storage, take(storage, "k").value());
  EXPECT_TRUE(eventually([&] { return calls() >= 13; }));
  EXPECT_TRUE(eventually([&] { return isHeldNowhere("k"); }));
  EXPECT_LE(calls(), 15);
}

TEST_F(RedlockTest, TwoProcessesExcludeEachOther) {
  const auto one = make();
  const auto other = make();
  const auto held = take(one, "k");
  ASSERT_TRUE(held);
  EXPECT_FALSE(take(other, "k"));
  EXPECT_EQ(giveBack(other, *held), Unlocked::kReleased) << "the owner counts, not who asks";
  const auto next = take(other, "k", kLong);
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, held->fence);
}

TEST_F(RedlockTest, ADeadMinorityNeitherThrowsNorDelays) {
  const auto storage = make(kVeryPatient);
  warmUp(storage);
  nodes_.at(0).kill();
  nodes_.at(1).kill();
  for (int i = 0; i < 5; ++i) {
    const auto started = SteadyClock::now();
    auto held = take(storage, "k");
    ASSERT_TRUE(held);
    EXPECT_TRUE(extend(storage, *held, byTime(kLong)));
    EXPECT_EQ(giveBack(storage, *held), Unlocked::kReleased);
    EXPECT_LT(SteadyClock::now() - started, kVeryPatient.nodeTimeout);
  }
}

TEST_F(RedlockTest, AFrozenMinorityNeitherThrowsNorDelays) {
  const auto storage = make(kVeryPatient);
  warmUp(storage);
  signal(0, 1, SIGSTOP);
  const auto started = SteadyClock::now();
  auto held = take(storage, "k");
  ASSERT_TRUE(held);
  EXPECT_TRUE(extend(storage, *held, byFence(held->fence + 10)));
  EXPECT_EQ(giveBack(storage, *held), Unlocked::kReleased);
  EXPECT_LT(SteadyClock::now() - started, kVeryPatient.nodeTimeout);
  signal(0, 1, SIGCONT);
  EXPECT_TRUE(eventually([&] { return isHeldNowhere("k"); }));
}

TEST_F(RedlockTest, ARefusingMinorityNeitherThrowsNorDelays) {
  const auto storage = make();
  warmUp(storage);
  for (const std::size_t full : {0, 1})
    nodes_.at(full).command({"CONFIG", "SET", "maxmemory", "1"});
  const auto held = take(storage, "k");
  ASSERT_TRUE(held);
  EXPECT_FALSE(take(storage, "k"));
  EXPECT_EQ(giveBack(storage, *held), Unlocked::kReleased);
}

TEST_F(RedlockTest, AMajorityThatIsAwayIsFoundOnceAndNoticedWhenItIsBack) {
  const auto storage = make();
  warmUp(storage);
  signal(0, 2, SIGSTOP);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(take(storage, "k"), LockStorageUnavailable);
  // Once their breakers are open: many requests in less than one time-out of 500 ms.
  EXPECT_TRUE(eventually([&] {
    const auto started = SteadyClock::now();
    for (int i = 0; i < 10; ++i) EXPECT_THROW(take(storage, "k"), LockStorageUnavailable);
    return SteadyClock::now() - started < Millis{150};
  }));
  EXPECT_FALSE(answers(storage));
  signal(0, 2, SIGCONT);
  EXPECT_TRUE(takeInTheEnd(storage, "other"));
  EXPECT_TRUE(takeInTheEnd(storage, "k")) << "what was asked of the others was not given back";
  EXPECT_TRUE(answers(storage));
}

TEST_F(RedlockTest, AMajorityThatRefusesToServeIsUnavailableNotBusy) {
  const auto storage = make();
  warmUp(storage);
  for (const std::size_t full : {0, 1, 2})
    nodes_.at(full).command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THROW(take(storage, "k"), LockStorageUnavailable);
}

TEST_F(RedlockTest, WaitersLearnThatAMajorityIsAway) {
  const auto storage = make();
  const auto held = take(storage, "k");
  ASSERT_TRUE(held);
  auto waiter = start(storage, "k", kLong);
  EXPECT_EQ(waiter.wait_for(Millis{30}), std::future_status::timeout);
  for (const std::size_t dead : {0, 1, 2}) nodes_.at(dead).kill();
  EXPECT_THROW(finish(std::move(waiter)), LockStorageUnavailable);
}

TEST_F(RedlockTest, AMinorityHeldByAnotherOwnerDoesNotMatterAndAMajorityDoes) {
  const auto storage = make();
  warmUp(storage);
  plant(0, "k");
  plant(1, "k");
  const auto held = take(storage, "k");
  ASSERT_TRUE(held);
  EXPECT_EQ(giveBack(storage, *held), Unlocked::kReleased);
  EXPECT_TRUE(eventually(
      [&] { return holder(2, "k").empty() && holder(3, "k").empty() && holder(4, "k").empty(); }));
  plant(2, "k");
  EXPECT_FALSE(take(storage, "k"));
  EXPECT_TRUE(eventually([&] { return holder(3, "k").empty() && holder(4, "k").empty(); }))
      << "a partial grant was not given back";
  for (const std::size_t node : {0, 1, 2}) EXPECT_EQ(holder(node, "k"), "a stranger");
}

// Node 0 gets the request only after the release that takes it back.
TEST_F(RedlockTest, ARequestThatArrivesAfterItsReleaseTakesNothing) {
  std::vector<std::unique_ptr<TcpProxy>> proxies;
  warmUp(make());
  const auto storage = makeThrough(proxies, 1, 2);
  // Both connections are in use, and nothing is under way.
  ASSERT_TRUE(eventually([&] {
    const auto pings = nodes_.at(0).calls("ping");
    answers(storage);
    EXPECT_TRUE(eventually([&] { return nodes_.at(0).calls("ping") > pings; }));
    const auto clients = nodes_.at(0).command({"CLIENT", "LIST"});
    return clients.find("cmd=ping") != clients.rfind("cmd=ping");
  }));
  proxies[0]->holdBackNext();
  const auto held = take(storage, "k");
  ASSERT_TRUE(held);
  ASSERT_TRUE(eventually([&] { return proxies[0]->isHoldingBack(); }));
  EXPECT_EQ(giveBack(storage, *held), Unlocked::kReleased);
  // The release has arrived on the other connection.
  ASSERT_TRUE(eventually([&] {
    return nodes_.at(0).command({"EXISTS", kKeys.tombstone(held->owner)}) == "1";
  }));
  const auto calls = nodes_.at(0).calls("evalsha");
  proxies[0]->letThrough();
  ASSERT_TRUE(eventually([&] { return nodes_.at(0).calls("evalsha") > calls; }));
  EXPECT_EQ(holder(0, "k"), "");
}

TEST_F(RedlockTest, AnAcquireWhoseRepliesAreLostIsGivenBackByItsOwner) {
  std::vector<std::unique_ptr<TcpProxy>> proxies;
  const auto through = makeThrough(proxies, 3);
  const auto direct = make();
  warmUp(through);
  for (const auto& proxy : proxies) proxy->swallowReplies();
  EXPECT_THROW(take(through, "k"), LockStorageUnavailable);
  for (const auto& proxy : proxies) {
    EXPECT_GT(proxy->swallowed(), 0U) << "the test wanted a grant without a reply";
    proxy->cut();
  }
  // Long before the lease of 30 s is over.
  EXPECT_TRUE(take(direct, "k", Millis{15'000}));
}

TEST_F(RedlockTest, AnUnlockWhoseRepliesAreLostDoesNotTouchTheNextHold) {
  std::vector<std::unique_ptr<TcpProxy>> proxies;
  const auto through = makeThrough(proxies, 3);
  warmUp(through);
  const auto first = take(through, "k");
  ASSERT_TRUE(first);
  for (const auto& proxy : proxies) proxy->swallowReplies();
  EXPECT_EQ(giveBack(through, *first), Unlocked::kUnknown);
  for (const auto& proxy : proxies) proxy->cut();
  const auto second = takeInTheEnd(through, "k");
  ASSERT_TRUE(second);
  // Until the late releases are confirmed, and then once more by hand.
  for (const std::size_t node : {0, 1, 2})
    EXPECT_TRUE(eventually([&] {
      return nodes_.at(node).command({"EXISTS", kKeys.tombstone(first->owner)}) == "1";
    }));
  EXPECT_EQ(giveBack(through, *first), Unlocked::kLost);
  const auto direct = make();
  EXPECT_FALSE(take(direct, "k")) << "the second hold was freed by the first one's late unlock";
  EXPECT_EQ(giveBack(through, *second), Unlocked::kReleased);
}

TEST_F(RedlockTest, ALeaseThatIsAllMarginIsNotGranted) {
  const auto storage = make();
  warmUp(storage);
  EXPECT_FALSE(take(storage, "k", Millis{0}, Millis{2}));
  EXPECT_TRUE(eventually([&] { return isHeldNowhere("k"); }));
}

TEST_F(RedlockTest, AGrantThatComesWhenTheLeaseIsOverIsNotGranted) {
  constexpr Millis kLease{60};
  const auto storage = make(kVeryPatient);
  warmUp(storage);
  signal(0, 4, SIGSTOP);
  auto late = start(storage, "k", Millis{0}, kLease);
  // The loop has begun it, and its lease with it.
  runOn(loops_.at(), []() -> drogon::Task<> { co_return; });
  std::this_thread::sleep_for(kLease);
  signal(0, 4, SIGCONT);
  EXPECT_FALSE(finish(std::move(late)));
  EXPECT_TRUE(takeInTheEnd(storage, "k")) << "it was not given back";
}

// The classic: A holds on three nodes, one of them forgets, and B finds a majority of free ones.
TEST_F(RedlockTest, ARestartedNodeHasNoVoteUntilItsQuarantineIsOver) {
  constexpr Millis kLease{3000};
  const lock::RedlockSettings settings{.nodeTimeout = Millis{500}, .longestLease = kLease};
  const auto a = make(settings);
  warmUp(a, kLease);
  plant(3, "k");
  plant(4, "k");
  const auto held = take(a, "k", Millis{0}, kLease);
  ASSERT_TRUE(held);
  nodes_.at(3).command({"DEL", kKeys.hold("k")});
  nodes_.at(4).command({"DEL", kKeys.hold("k")});
  restart(2);
  const auto b = make(settings);
  const auto next = takeInTheEnd(b, "k", kLease);
  ASSERT_TRUE(next);
  EXPECT_GE(SteadyClock::now(), held->validUntil) << "two holders at a time";
  EXPECT_GT(next->fence, held->fence);
  EXPECT_TRUE(eventually([&] {
    take(b, "another", Millis{0}, kLease);
    return nodes_.at(2).command({"EXISTS", kKeys.ready()}) == "1";
  })) << "it never votes again";
  EXPECT_EQ(nodes_.at(2).command({"EXISTS", kKeys.began()}), "0");
}

TEST_F(RedlockTest, ANodeInQuarantineIsNotAskedToHurry) {
  const auto storage = make();
  warmUp(storage);
  nodes_.at(0).command({"FLUSHALL"});
  giveBack(storage, take(storage, "k").value());
  ASSERT_TRUE(eventually([&] { return nodes_.at(0).command({"EXISTS", kKeys.began()}) == "1"; }));
  const auto left = std::stol(nodes_.at(0).command({"PTTL", kKeys.quarantine()}));
  EXPECT_GT(left, 0);
  EXPECT_LE(left, kLong.count());
  nodes_.at(0).command({"PEXPIRE", kKeys.quarantine(), "10000"});
  giveBack(storage, take(storage, "k").value());
  EXPECT_LE(std::stol(nodes_.at(0).command({"PTTL", kKeys.quarantine()})), 10'000)
      << "the quarantine began anew";
  EXPECT_EQ(holder(0, "k"), "");
}

TEST_F(RedlockTest, AllNodesInQuarantineAreUnavailable) {
  const auto storage = make();
  nodes_.command({"FLUSHALL"});
  EXPECT_THROW(take(storage, "k"), LockStorageUnavailable);
  EXPECT_THROW(take(storage, "k", kLong), LockStorageUnavailable);
}

TEST_F(RedlockTest, FencesNeverGoBackWhateverTheNodesForget) {
  constexpr Millis kLease{300};
  const lock::RedlockSettings settings{.nodeTimeout = Millis{500}, .longestLease = kLease};
  auto storage = make(settings);
  std::int64_t last = 0;
  const auto expectLarger = [&](const std::string& after) {
    const auto lease = takeInTheEnd(storage, "k", kLease);
    ASSERT_TRUE(lease) << after;
    EXPECT_GT(lease->fence, last) << after;
    last = lease->fence;
    giveBack(storage, *lease);
  };
  expectLarger("the start");
  nodes_.at(0).command({"FLUSHALL"});
  nodes_.at(1).command({"FLUSHALL"});
  expectLarger("a flushed minority");
  nodes_.command({"FLUSHALL"});
  expectLarger("all flushed");
  for (const std::size_t node : {0, 1, 2}) nodes_.at(node).command({"DEL", kKeys.fence()});
  expectLarger("counters deleted");
  restart(3);
  restart(4);
  storage = make(settings);
  expectLarger("a restarted minority");
  for (const std::size_t node : {0, 1, 2}) restart(node);
  storage = make(settings);
  expectLarger("a restarted majority");
}

TEST_F(RedlockTest, AHolderLearnsFromItsExtendThatAMajorityForgotIt) {
  const auto storage = make();
  auto held = take(storage, "k");
  ASSERT_TRUE(held);
  ASSERT_TRUE(eventually([&] { return holders("k") == kNodes; }));
  nodes_.at(0).command({"FLUSHALL"});
  nodes_.at(1).command({"FLUSHALL"});
  EXPECT_TRUE(extend(storage, *held, byTime(kLong)));
  nodes_.at(2).command({"FLUSHALL"});
  EXPECT_FALSE(extend(storage, *held, byTime(kLong)));
  EXPECT_FALSE(extend(storage, *held, byFence(held->fence)));
  EXPECT_EQ(giveBack(storage, *held), Unlocked::kLost);
}

TEST_F(RedlockTest, ScriptsForgottenByTheNodesAreSentAgainAndRunOnce) {
  const auto storage = make();
  nodes_.command({"SET", kKeys.fence(), "1000"});  // all count alike
  const auto first = take(storage, "k");
  ASSERT_TRUE(first);
  ASSERT_TRUE(eventually([&] { return holders("k") == kNodes; }));
  nodes_.command({"SCRIPT", "FLUSH"});
  EXPECT_EQ(giveBack(storage, *first), Unlocked::kReleased);
  ASSERT_TRUE(eventually([&] { return isHeldNowhere("k"); }));
  nodes_.command({"SCRIPT", "FLUSH"});
  const auto second = take(storage, "k");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->fence, first->fence + 1) << "the attempt ran twice";
}

TEST_F(RedlockTest, LongerLeasesThanTheQuarantineAreErrorsOfTheCaller) {
  const auto storage = make();
  EXPECT_THROW(take(storage, "k", Millis{0}, kLong + Millis{1}), std::invalid_argument);
  auto held = take(storage, "k");
  ASSERT_TRUE(held);
  EXPECT_THROW(extend(storage, *held, byTime(kLong + Millis{1})), std::invalid_argument);
}

TEST_F(RedlockTest, TimeIsExtendedOnlySoOften) {
  auto settings = kPatient;
  settings.maxExtensions = 2;
  const auto storage = make(settings);
  auto held = take(storage, "k");
  ASSERT_TRUE(held);
  EXPECT_TRUE(extend(storage, *held, byTime(kLong)));
  EXPECT_TRUE(extend(storage, *held, byTime(kLong)));
  EXPECT_FALSE(extend(storage, *held, byTime(kLong)));
  EXPECT_TRUE(extend(storage, *held, byFence(0))) << "only time is bounded";
  EXPECT_EQ(held->extensions, 2);
}

TEST_F(RedlockTest, AnExtensionThatNoMajorityConfirmsIsNotKnownAndNotTrusted) {
  const auto storage = make();
  auto held = take(storage, "k", Millis{0}, Millis{20'000});
  ASSERT_TRUE(held);
  const auto before = held->clone();
  signal(0, 2, SIGSTOP);
  EXPECT_THROW(extend(storage, *held, byTime(kLong)), LockStorageUnavailable);
  EXPECT_EQ(held->validUntil, before.validUntil);
  EXPECT_THROW(extend(storage, *held, byTime(Millis{10'000})), LockStorageUnavailable);
  EXPECT_LT(held->validUntil, before.validUntil) << "a shorter lease may be in force";
  EXPECT_THROW(extend(storage, *held, byFence(0)), LockStorageUnavailable);
  EXPECT_EQ(held->fence, before.fence);
}

TEST_F(RedlockTest, ATokenThatIsAnotherOwnersIsNotGivenAgain) {
  const auto storage = make();
  nodes_.command({"SET", kKeys.fence(), "1000"});  // all count alike
  const auto first = take(storage, "other");
  ASSERT_TRUE(first);
  for (const std::size_t node : {0, 1, 2})
    nodes_.at(node).command(
        {"SET", kKeys.tokenOwner(first->fence + 1), "a stranger", "PX", "30000"});
  const auto held = take(storage, "k");
  ASSERT_TRUE(held);
  EXPECT_GT(held->fence, first->fence + 1);
}

// Different keys at the same time from three processes: none excludes another, and yet no two
// tokens are equal.
TEST_F(RedlockTest, OwnersOfDifferentKeysNeverGetEqualTokens) {
  constexpr int kEach = 200;
  std::vector<std::future<std::optional<Lease>>> all;
  // For a crowd on a slow machine: here no node is away.
  auto settings = kPatient;
  settings.nodeTimeout = Millis{10'000};
  for (int process = 0; process < 3; ++process) {
    const auto storage = make(settings);
    for (int i = 0; i < kEach; ++i)
      all.push_back(start(storage, std::to_string(process) + ":" + std::to_string(i), kLong));
  }
  std::set<std::int64_t> tokens;
  for (auto& one : all) {
    const auto lease = finish(std::move(one));
    ASSERT_TRUE(lease);
    EXPECT_TRUE(tokens.insert(lease->fence).second) << lease->fence;
  }
}

// Two processes, many coroutines, one key; a node dies in the middle of it.
TEST_F(RedlockTest, ManyCoroutinesNeverHoldAKeyTogetherWhileANodeDies) {
  constexpr int kEach = 25;
  constexpr std::size_t kDoomed = 4;
  const Loops loops(3);
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> grants{0};
  std::atomic<std::int64_t> lastFence{0};
  std::atomic<int> fenceWentBack{0};
  const auto work = [&](Storage storage, trantor::EventLoop* loop) -> drogon::Task<> {
    for (int i = 0; i < kEach; ++i) {
      const lock::LockRequest request{"hot", kLong, kLong};
      auto lease = co_await storage->tryLock(request);
      if (inside.fetch_add(1) != 0) ++overlaps;
      if (lastFence.exchange(lease->fence) >= lease->fence) ++fenceWentBack;
      ++grants;
      co_await drogon::sleepCoro(loop, 0.0);
      inside.fetch_sub(1);
      co_await storage->unlock(std::move(*lease));
    }
  };
  const std::vector<Storage> processes{makeForTheDeathOf(kDoomed), makeForTheDeathOf(kDoomed)};
  std::vector<std::future<void>> all;
  for (std::size_t i = 0; i < 6; ++i)
    all.push_back(startOn(loops.at(i % 3), [&, storage = processes[i % 2], loop = loops.at(i % 3)] {
      return work(storage, loop);
    }));
  EXPECT_TRUE(eventually([&] { return grants > kEach; }));
  nodes_.at(kDoomed).kill();
  for (auto& one : all) finish(std::move(one));
  EXPECT_EQ(grants, 6 * kEach);
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(fenceWentBack, 0);
}

}  // namespace festa::test
