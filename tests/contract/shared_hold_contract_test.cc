#include "tests/contract/lock_storage_contract.h"
#include "tests/support/history/history.h"

#include <gmock/gmock.h>

#include <set>

namespace festa::test {

using lock::Lease;
using lock::Millis;
using lock::SteadyClock;
using lock::Unlocked;

namespace {

bool sharesHolds(const lock::StorageRow& row) {
  return row.sharesHolds;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Storages, SharedHoldContract, testing::ValuesIn(storageNames(sharesHolds)),
                         nameOfStorage);

TEST_P(SharedHoldContract, NeighboursInLineAreGrantedTheKeyAtTheSameTime) {
  auto [held, members, behind] = standTogether({3, 3, 3, 3}, 3);
  EXPECT_FALSE(held.company);
  std::set<std::string> owners;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(owners.insert(members[i].owner).second);
    EXPECT_EQ(members[i].fence, members[0].fence + static_cast<std::int64_t>(i));
    EXPECT_EQ(members[i].ordinal, i);
  }
  EXPECT_GT(members[0].fence, held.fence);
  EXPECT_EQ(members[0].company->size(), 3U);
  EXPECT_FALSE(lock("k")) << "the key is held";
  // It is given back with the last of them, whichever that is.
  EXPECT_EQ(unlock(members[2]), Unlocked::kReleased);
  EXPECT_EQ(unlock(members[0]), Unlocked::kReleased);
  EXPECT_TRUE(isWaiting(behind[0]));
  EXPECT_EQ(unlock(members[1]), Unlocked::kReleased);
  const auto last = finish(std::move(behind[0]));
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->company);
  EXPECT_GT(last->fence, members[2].fence);
  EXPECT_EQ(unlock(*last), Unlocked::kReleased);
  EXPECT_TRUE(lock("k"));
}

TEST_P(SharedHoldContract, OneThatWantsTheKeyAloneHasItAlone) {
  auto [held, members, behind] = standTogether({4, 4, 1, 4, 4}, 2);
  EXPECT_TRUE(isWaiting(behind[0]));
  for (const auto& member : members) unlock(member);
  const auto alone = finish(std::move(behind[0])).value();
  EXPECT_FALSE(alone.company);
  EXPECT_TRUE(isWaiting(behind[1]));
  unlock(alone);
  const auto fourth = finish(std::move(behind[1])).value();
  const auto fifth = finish(std::move(behind[2])).value();
  ASSERT_TRUE(fourth.company);
  EXPECT_EQ(fourth.company, fifth.company);
  EXPECT_NE(fourth.company->id(), members[0].company->id());
}

TEST_P(SharedHoldContract, ARequestForAnotherLeaseIsNotAMember) {
  const auto held = lock("k");
  auto line = stand({4}, Millis{30'000});
  auto other = stand({4}, Millis{20'000});
  unlock(*held);
  const auto first = finish(std::move(line[0])).value();
  EXPECT_FALSE(first.company);
  EXPECT_TRUE(isWaiting(other[0]));
  unlock(first);
  EXPECT_TRUE(finish(std::move(other[0])));
}

TEST_P(SharedHoldContract, AMemberThatNeverGivesBackCostsTheOthersOneLease) {
  // The second one joins only within the first eighth of it.
  const Millis lease{kSanitized ? 8000 : 3000};
  const auto held = lock("k", Millis{0}, lease);
  auto line = stand({2, 2}, lease);
  auto behind = stand({1});
  unlock(*held);
  const auto leaves = finish(std::move(line[0])).value();
  const auto stays = finish(std::move(line[1])).value();
  EXPECT_EQ(unlock(leaves), Unlocked::kReleased);
  const auto next = finish(std::move(behind[0]));
  ASSERT_TRUE(next);
  EXPECT_GE(SteadyClock::now(), stays.validUntil);
  EXPECT_GT(next->fence, stays.fence);
  EXPECT_EQ(unlock(stays), Unlocked::kLost);
  EXPECT_EQ(unlock(*next), Unlocked::kReleased);
}

TEST_P(SharedHoldContract, ASecondUnlockOfAMemberIsLostAndFreesNoOtherHold) {
  const auto members = standTogether({2, 2}, 2).members;
  EXPECT_EQ(unlock(members[0]), Unlocked::kReleased);
  EXPECT_EQ(unlock(members[0]), Unlocked::kLost);
  EXPECT_FALSE(lock("k")) << "the second member's hold was freed";
  EXPECT_EQ(unlock(members[1]), Unlocked::kReleased);
}

TEST_P(SharedHoldContract, AMemberCanDrawALargerFenceAndMoreTime) {
  auto [held, members, behind] = standTogether({3, 3, 3, 1}, 3);
  auto& first = members[0];
  auto& second = members[1];
  const auto& third = members[2];
  const auto validUntil = first.validUntil;
  ASSERT_TRUE(extend(first, {.lease = Millis{60'000}, .fenceAbove = third.fence}));
  EXPECT_GT(first.fence, third.fence);
  EXPECT_GT(first.validUntil, validUntil);
  ASSERT_TRUE(extend(second, {.lease = {}, .fenceAbove = first.fence}));
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(unlock(first), Unlocked::kReleased);
  EXPECT_FALSE(extend(first, {.lease = Millis{60'000}, .fenceAbove = {}}));
  EXPECT_EQ(unlock(second), Unlocked::kReleased);
  EXPECT_EQ(unlock(third), Unlocked::kReleased);
  const auto next = finish(std::move(behind[0]));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, second.fence);
}

// Twelve coroutines on three threads, at most four together.
TEST_P(SharedHoldContract, NoOtherOwnerHoldsTheKeyWhileMembersDo) {
  constexpr std::size_t kMost = 4;
  History history;
  std::atomic<std::size_t> largest{0};
  const auto takeAgainAndAgain = [&](std::size_t name) -> drogon::Task<> {
    const lock::LockRequest request{"k", Millis{30'000}, Millis{30'000}, kMost};
    for (int i = 0; i < 60; ++i) {
      const auto who = std::to_string(name) + "." + std::to_string(i);
      const auto lease = co_await storage_->tryLock(request);
      if (!lease) throw std::runtime_error("busy for the whole wait");
      const auto& company = lease->company;
      if (company) largest = std::max(largest.load(), company->size());
      history.granted("k", who, lease->fence, SteadyClock::now(), company ? company->id() : "");
      co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.0);
      history.ended("k", who, lease->fence, SteadyClock::now(), History::End::kReleased);
      const auto how = co_await storage_->unlock(lease->clone());
      if (how != Unlocked::kReleased) throw std::runtime_error("lost while it was held");
    }
  };
  std::vector<std::future<void>> all;
  for (std::size_t i = 0; i < 12; ++i)
    all.push_back(startOn(loops_.at(1 + i % 3), [&, i] { return takeAgainAndAgain(i); }));
  for (auto& one : all) finish(std::move(one));
  EXPECT_THAT(history.check(), testing::IsEmpty());
  EXPECT_GT(largest, 1U);
  EXPECT_LE(largest, kMost);
}

}  // namespace festa::test
