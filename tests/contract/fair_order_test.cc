// Lines on Redis between real processes: order, and what a dead process costs those behind it.
#include "lock/redis/line/line_protocol.h"
#include "tests/support/history/history.h"
#include "tests/support/lock/lock_worker.h"
#include "tests/support/lock/storages.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <list>
#include <random>

namespace festa::test {

namespace {

using lock::Millis;
using lock::SteadyClock;

constexpr Millis kLong{60'000};
constexpr Millis kNow{0};

class FairOrder : public testing::TestWithParam<std::string> {
 protected:
  const lock::StorageRow& row() const { return *lock::findStorage(GetParam()); }
  LockWorker& startWorker() {
    return workers_.emplace_back(
        LockWorker::Options{.storage = GetParam(), .ports = {redis_.port()}, .epochs = epochs_});
  }
  std::string key(const std::string& what) const {
    return std::string("test:") + row().keys + ":" + what;
  }
  // How many have ever taken a place in line.
  long arrivals() const {
    const auto count = redis_.command({"GET", key("arrivals")});
    return count.empty() ? 0 : std::stol(count);
  }
  void TearDown() override {
    for (auto& worker : workers_)
      if (worker.process().isRunning()) {
        EXPECT_EQ(worker.quit(), 0) << worker.log();
      }
  }

  const std::string epochs_ = makeTemporaryFolder() + "/epochs";
  const RedisServer redis_;
  std::list<LockWorker> workers_;
};

class DeadProcess : public FairOrder {};

// Those that offer a key to the next waiter in line.
bool isLine(const lock::StorageRow& row) {
  return row.offersMissed != nullptr;
}

bool isStrictLine(const lock::StorageRow& row) {
  return isLine(row) && row.order == lock::Order::kOverall;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Strict, FairOrder, testing::ValuesIn(storageNames(isStrictLine)),
                         nameOfStorage);
INSTANTIATE_TEST_SUITE_P(Lines, DeadProcess, testing::ValuesIn(storageNames(isLine)),
                         nameOfStorage);

// Four processes; some waits end before the key is free, some while it goes round.
TEST_P(FairOrder, IsThatOfArrivalAcrossProcessesWhateverIsCancelled) {
  constexpr int kWaiters = 200;
  std::mt19937 random(20261116);
  std::vector<LockWorker*> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(&startWorker());
  ASSERT_TRUE(workers[0]->lock("first", "k", kNow, kLong));

  struct Place {
    LockWorker* worker;
    std::string id;
    bool mayGiveUp;
  };
  std::vector<Place> line;
  for (int i = 0; i < kWaiters; ++i) {
    const Place place{workers[random() % 4], "w" + std::to_string(i), i % 4 == 3};
    const Millis wait = place.mayGiveUp ? Millis{200 + static_cast<int>(random() % 3000)} : kLong;
    place.worker->startLock(place.id, "k", wait, kLong);
    ASSERT_TRUE(eventually([&] { return arrivals() == i + 1; })) << "the next one could overtake";
    line.push_back(place);
  }
  EXPECT_EQ(workers[0]->unlock("first"), "released");
  std::int64_t fence = 0;
  int granted = 0;
  for (const auto& place : line) {
    const auto turn = place.worker->finishLock(place.id);
    if (!turn) {
      EXPECT_TRUE(place.mayGiveUp) << place.id << " waited in vain";
      continue;
    }
    ++granted;
    EXPECT_GT(turn->fence, fence) << place.id << " was overtaken";
    fence = turn->fence;
    EXPECT_EQ(place.worker->unlock(place.id), "released");
  }
  EXPECT_GE(granted, kWaiters * 3 / 4);
  History history;
  for (auto* const worker : workers) history.read(worker->history());
  EXPECT_THAT(history.check({.fifo = true}), testing::IsEmpty());
}

// A 7: it was granted the key by message, and is not there. Its other places cost nothing.
TEST_P(FairOrder, AReadyProcessThatDiesCostsTheOthersOneLease) {
  const auto lease = lock::kLongestReadyLease;
  auto& holder = startWorker();
  auto& doomed = startWorker();
  auto& living = startWorker();
  ASSERT_TRUE(holder.lock("h", "k", kNow, kLong));
  int places = 0;
  // No two neighbours are of one process: those would be offered the key.
  for (auto* const worker : {&doomed, &living, &doomed, &living}) {
    const auto before = arrivals();
    worker->startLock("place" + std::to_string(++places), "k", kLong, lease);
    ASSERT_TRUE(eventually([&] { return arrivals() == before + 1; }));
  }
  // Both have beaten with a number.
  ASSERT_TRUE(eventually([&] {
    const auto alive = redis_.command({"KEYS", key("alive:*")});
    int ready = 0;
    for (std::size_t at = 0; at < alive.size();) {
      const auto end = std::min(alive.find('\n', at), alive.size());
      const auto beat = redis_.command({"GET", alive.substr(at, end - at)});
      if (beat.starts_with("r")) ++ready;
      at = end + 1;
    }
    return ready == 2;
  }));
  doomed.process().signal(SIGKILL);
  doomed.process().wait();
  const auto released = SteadyClock::now();
  EXPECT_EQ(holder.unlock("h"), "released");
  const auto first = living.finishLock("place2");
  ASSERT_TRUE(first);
  EXPECT_GE(SteadyClock::now() - released, lease) << "it was offered, not granted";
  EXPECT_LT(SteadyClock::now() - released, 2 * lease);
  EXPECT_EQ(living.unlock("place2"), "released");
  const auto second = living.finishLock("place4");
  ASSERT_TRUE(second);
  EXPECT_LT(SteadyClock::now() - released, 2 * lease);
  EXPECT_GT(second->fence, first->fence);
  EXPECT_EQ(living.unlock("place4"), "released");
}

// A 7: the hundred places of a dead process go in one step of half a second, not one lease each.
TEST_P(DeadProcess, WithAHundredWaitersCostsTheOthersOneBoundedStep) {
  auto& holder = startWorker();
  auto& doomed = startWorker();
  auto& living = startWorker();
  ASSERT_TRUE(holder.lock("h", "k", kNow, kLong));
  const auto before = arrivals();
  doomed.startMany(100, "k", kLong, kLong);
  // In a line that is not strict a process has one place for all.
  const int places = row().order == lock::Order::kOverall ? 100 : 1;
  ASSERT_TRUE(eventually([&] { return arrivals() == before + places; }));
  living.startLock("first", "k", kLong, kLong);
  ASSERT_TRUE(eventually([&] { return arrivals() == before + places + 1; }))
      << "the second one could overtake: a worker counts who waits before it asks";
  living.startLock("second", "k", kLong, kLong);
  ASSERT_TRUE(eventually([&] { return living.waiting() == 2; }));
  doomed.process().signal(SIGKILL);
  doomed.process().wait();
  const auto released = SteadyClock::now();
  EXPECT_EQ(holder.unlock("h"), "released");
  const auto first = living.finishLock("first");
  ASSERT_TRUE(first);
  EXPECT_LT(SteadyClock::now() - released, lock::kAliveTime + lock::kOfferTime + Millis{5000});
  EXPECT_EQ(living.unlock("first"), "released");
  const auto second = living.finishLock("second");
  ASSERT_TRUE(second);
  EXPECT_GT(second->fence, first->fence);
}

}  // namespace festa::test
