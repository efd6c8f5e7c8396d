// Locks between real processes: what a storage shared by several must keep when they crash, sleep
// or have wrong clocks. All storages of the table that claim to work across processes take part.
#include "lock/redis/redis_keys.h"
#include "tests/support/fake_clock.h"
#include "tests/support/history/history.h"
#include "tests/support/lock/lock_worker.h"
#include "tests/support/lock/storages.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/redlock_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <list>

namespace festa::test {

namespace {

using lock::Millis;
using lock::SteadyClock;
using testing::IsEmpty;

constexpr Millis kLong{30'000};
constexpr Millis kNow{0};
constexpr std::chrono::hours kHour{1};

class ProcessesTest : public testing::TestWithParam<std::string> {
 protected:
  using Environment = std::map<std::string, std::string>;

  bool isRedlock() const { return lock::findStorage(GetParam())->needs == lock::Servers::kRedlock; }

  History::Promises promises() const {
    return {.fifo = lock::findStorage(GetParam())->order == lock::Order::kOverall};
  }

  // In each process. With five servers and no order many take long to get their turn.
  int rivals() const { return isRedlock() ? 10 : 50; }

  void startServers(const Environment& environment = {}) {
    const std::size_t count = isRedlock() ? RedlockNodes::kCount : 1;
    for (std::size_t i = 0; i < count; ++i)
      servers_.emplace_back(std::vector<std::string>{}, environment);
    // Fresh nodes of a Redlock may vote at once here: there are no holds yet.
    for (auto& server : servers_)
      server.command({"SET", lock::RedlockKeys("test", "redlock").ready(), "1"});
  }

  LockWorker& startWorker(const Environment& environment = {}) {
    if (servers_.empty()) startServers();
    std::vector<int> ports;
    for (const auto& server : servers_) ports.push_back(server.port());
    return workers_.emplace_back(LockWorker::Options{
        .storage = GetParam(), .ports = ports, .epochs = epochs_, .environment = environment});
  }

  void kill(LockWorker& worker) {
    worker.process().signal(SIGKILL);
    worker.process().wait();
  }

  // A worker that a sanitizer complains about ends with an error.
  void TearDown() override {
    for (auto& worker : workers_) {
      if (!worker.process().isRunning()) continue;
      EXPECT_EQ(worker.quit(), 0) << worker.log();
    }
  }

  const std::string epochs_ = makeTemporaryFolder() + "/epochs";
  std::list<RedisServer> servers_;
  std::list<LockWorker> workers_;
};

bool worksAcrossProcesses(const lock::StorageRow& row) {
  return row.acrossProcesses;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Shared, ProcessesTest,
                         testing::ValuesIn(storageNames(worksAcrossProcesses)), nameOfStorage);

TEST_P(ProcessesTest, ThreeProcessesExcludeEachOther) {
  const int each = rivals();
  auto& first = startWorker();
  ASSERT_TRUE(first.lock("first", "hot", kNow, kLong));
  std::vector<LockWorker*> rivals;
  for (int i = 0; i < 3; ++i) {
    rivals.push_back(&startWorker());
    rivals.back()->startMany(each, "hot", kLong, kLong);
  }
  for (auto* rival : rivals)
    ASSERT_TRUE(eventually([&] { return rival->waiting() == static_cast<std::size_t>(each); }))
        << "not all at the start";
  EXPECT_EQ(first.unlock("first"), "released");
  for (auto* rival : rivals)
    for (int i = 0; i < each; ++i) EXPECT_EQ(rival->finishOneOfMany(i), "released");
  History history;
  for (auto& worker : workers_) history.read(worker.history());
  EXPECT_EQ(history.size(), 3U * static_cast<std::size_t>(3 * each + 1));
  EXPECT_THAT(history.check(promises()), IsEmpty());
}

// Members of a shared hold count as one holder; a storage that does not share has none.
TEST_P(ProcessesTest, ThreeProcessesExcludeEachOthersSharedHolds) {
  const int each = rivals();
  auto& first = startWorker();
  ASSERT_TRUE(first.lock("first", "hot", kNow, kLong));
  std::vector<LockWorker*> rivals;
  for (int i = 0; i < 3; ++i) {
    rivals.push_back(&startWorker());
    rivals.back()->startMany(each, "hot", kLong, kLong, 8);
  }
  for (auto* rival : rivals)
    ASSERT_TRUE(eventually([&] { return rival->waiting() == static_cast<std::size_t>(each); }))
        << "not all at the start";
  EXPECT_EQ(first.unlock("first"), "released");
  for (auto* rival : rivals)
    for (int i = 0; i < each; ++i) EXPECT_EQ(rival->finishOneOfMany(i), "released");
  History history;
  for (auto& worker : workers_) history.read(worker.history());
  EXPECT_EQ(history.size(), 3U * static_cast<std::size_t>(3 * each + 1));
  EXPECT_THAT(history.check(promises()), IsEmpty());
}

TEST_P(ProcessesTest, TheKeyOfAKilledHolderIsFreeAfterItsLease) {
  constexpr Millis kLease{1000};
  auto& holder = startWorker();
  auto& heir = startWorker();
  const auto held = holder.lock("h", "k", kNow, kLease);
  ASSERT_TRUE(held);
  heir.startLock("h", "k", kLong, kLong);
  kill(holder);
  const auto next = heir.finishLock("h");
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, held->fence);
  EXPECT_GT(next->at, held->at + kLease / 2) << "granted while the lease lasted";
  EXPECT_LT(next->at, held->at + kLease + Millis{9000}) << "long after the lease";
}

TEST_P(ProcessesTest, AHolderThatSleptPastItsLeaseHasLostItsKeyToALargerFence) {
  auto& sleeper = startWorker();
  auto& heir = startWorker();
  const auto held = sleeper.lock("s", "k", kNow, Millis{1500});
  ASSERT_TRUE(held);
  sleeper.process().signal(SIGSTOP);
  const auto next = heir.lock("h", "k", kLong, kLong);
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, held->fence);
  sleeper.process().signal(SIGCONT);
  EXPECT_FALSE(sleeper.extend("s", kLong));
  EXPECT_EQ(sleeper.unlock("s"), "lost");
  EXPECT_EQ(heir.unlock("h"), "released") << "the sleeper has freed its heir's key";
}

TEST_P(ProcessesTest, AClientsWallClockDoesNotMatter) {
  const FakeClock clock;
  auto& jumping = startWorker(clock.environment());
  auto& steady = startWorker();
  for (const auto jump : {kHour, -kHour}) {
    SCOPED_TRACE(jump > kHour.zero() ? "forwards" : "backwards");
    clock.setOffset(std::chrono::seconds{0});
    ASSERT_TRUE(jumping.lock("held", "held", kNow, kLong));
    const auto brief = jumping.lock("brief", "brief", kNow, Millis{1000});
    ASSERT_TRUE(brief);
    ASSERT_TRUE(steady.lock("awaited", "awaited", kNow, kLong));
    jumping.startLock("patient", "awaited", kLong, kLong);
    jumping.startLock("impatient", "awaited", Millis{3500}, kLong);
    ASSERT_TRUE(eventually([&] { return jumping.waiting() == 2; }));
    const auto before = SteadyClock::now();
    clock.setOffset(jump);
    ASSERT_NEAR(jumping.wallClock() - steady.wallClock(), std::chrono::seconds(jump).count(), 60);

    EXPECT_FALSE(steady.lock("other", "held", kNow, kLong)) << "the hold was lost";
    EXPECT_TRUE(jumping.extend("held", kLong));
    EXPECT_EQ(jumping.unlock("held"), "released");
    const auto next = steady.lock("next", "brief", kLong, kLong);
    ASSERT_TRUE(next);
    EXPECT_GT(next->at, brief->at + Millis{500}) << "the lease was shortened";
    EXPECT_LT(next->at, brief->at + Millis{5000}) << "the lease was prolonged";
    EXPECT_EQ(jumping.unlock("brief"), "lost");
    EXPECT_FALSE(jumping.finishLock("impatient"));
    EXPECT_LT(SteadyClock::now(), before + Millis{15'000});
    EXPECT_EQ(jumping.waiting(), 1U) << "the patient one gave up";
    EXPECT_EQ(steady.unlock("awaited"), "released");
    EXPECT_TRUE(jumping.finishLock("patient"));
    EXPECT_EQ(jumping.unlock("patient"), "released");
    EXPECT_EQ(steady.unlock("next"), "released");
  }
  History history;
  for (auto& worker : workers_) history.read(worker.history());
  EXPECT_THAT(history.check(), IsEmpty());
}

// Redis' keys expire by its wall clock, so this hold ends early: the fence is what protects then.
TEST_P(ProcessesTest, AServersClockThatJumpsForwardsEndsAHoldButFencesGrow) {
  const FakeClock clock;
  startServers(clock.environment());
  auto& holder = startWorker();
  auto& heir = startWorker();
  const auto before = std::stoll(servers_.front().command({"TIME"}));
  const auto held = holder.lock("h", "k", kNow, kLong);
  ASSERT_TRUE(held);
  EXPECT_FALSE(heir.lock("h", "k", kNow, kLong));
  clock.setOffset(kHour);
  ASSERT_GE(std::stoll(servers_.front().command({"TIME"})), before + 3600);
  const auto next = heir.lock("h", "k", kLong, kLong);
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, held->fence);
  EXPECT_FALSE(holder.extend("h", kLong));
  EXPECT_EQ(holder.unlock("h"), "lost");
  EXPECT_FALSE(holder.lock("again", "k", kNow, kLong)) << "the late unlock has freed the key";
  EXPECT_EQ(heir.unlock("h"), "released");
}

// The hold then lasts longer than its lease: no other process gets in, its owner can still end it.
TEST_P(ProcessesTest, AServersClockThatJumpsBackwardsEndsNoHoldEarly) {
  const FakeClock clock;
  startServers(clock.environment());
  auto& holder = startWorker();
  auto& other = startWorker();
  const auto before = std::stoll(servers_.front().command({"TIME"}));
  const auto held = holder.lock("h", "k", kNow, kLong);
  ASSERT_TRUE(held);
  other.startLock("patient", "k", kLong, kLong);
  ASSERT_TRUE(eventually([&] { return other.waiting() == 1; }));
  clock.setOffset(-kHour);
  ASSERT_LT(std::stoll(servers_.front().command({"TIME"})), before - 3000);
  EXPECT_FALSE(other.lock("o", "k", Millis{300}, kLong));
  EXPECT_TRUE(holder.extend("h", kLong));
  EXPECT_EQ(holder.unlock("h"), "released");
  const auto next = other.finishLock("patient");
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, held->fence);
  EXPECT_EQ(other.unlock("patient"), "released");
}

}  // namespace festa::test
