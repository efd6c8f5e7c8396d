#include "lock/memory/lock_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace festa::test {

using lock::Extension;
using lock::Lease;
using lock::LockTable;
using lock::LockTableLimits;
using lock::Millis;
using lock::SteadyTime;
using lock::WaiterId;
using testing::ElementsAre;

namespace {

const SteadyTime kStart{std::chrono::hours(1)};
constexpr Millis kLease{100};

LockTable table(LockTableLimits limits = {}) {
  return LockTable(5, "process-", limits);
}

// The lease of an arrival that must be granted at once.
Lease granted(const LockTable::Arrival& arrival) {
  return std::get<LockTable::Grant>(arrival).lease.clone();
}

bool isQueued(const LockTable::Arrival& arrival) {
  return std::holds_alternative<LockTable::Queued>(arrival);
}

bool isRefused(const LockTable::Arrival& arrival) {
  return std::holds_alternative<LockTable::Refused>(arrival);
}

// Of the only grant; 0: there is none.
WaiterId waiterOf(const LockTable::Grants& grants) {
  return grants.size() == 1 ? grants[0].waiter : 0;
}

std::vector<WaiterId> waitersOf(const LockTable::Grants& grants) {
  std::vector<WaiterId> ids;
  for (const auto& grant : grants) ids.push_back(grant.waiter);
  return ids;
}

Extension newLease(Millis lease) {
  return {lease, std::nullopt};
}

Extension newFence(std::int64_t above) {
  return {std::nullopt, above};
}

}  // namespace

TEST(LockTable, AFreeKeyIsGrantedAtOnce) {
  auto locks = table();
  const auto arrival = locks.arrive(1, "k", kLease, kStart);
  ASSERT_TRUE(std::holds_alternative<LockTable::Grant>(arrival));
  EXPECT_EQ(std::get<LockTable::Grant>(arrival).waiter, 1U);
  EXPECT_EQ(granted(arrival).key, "k");
  EXPECT_TRUE(granted(arrival).owner.starts_with("process-"));
  EXPECT_EQ(granted(arrival).fence >> 32, 5);
  EXPECT_EQ(locks.keys(), 1U);
  EXPECT_EQ(locks.waiters(), 0U);
}

TEST(LockTable, DifferentKeysDoNotMeet) {
  auto locks = table();
  const auto first = granted(locks.arrive(1, "k", kLease, kStart));
  const auto second = granted(locks.arrive(2, "other", kLease, kStart));
  EXPECT_EQ(second.key, "other");
  EXPECT_TRUE(locks.release("k", first.owner, kStart).released);
  EXPECT_FALSE(locks.tryArrive("other", kLease, kStart));
}

TEST(LockTable, AHeldKeyQueuesAndSaysWhenTheHolderExpires) {
  auto locks = table();
  locks.arrive(1, "k", kLease, kStart);
  const auto arrival = locks.arrive(2, "k", kLease, kStart + Millis(99));
  ASSERT_TRUE(isQueued(arrival));
  EXPECT_EQ(std::get<LockTable::Queued>(arrival).holderExpiresAt, kStart + kLease);
  EXPECT_EQ(locks.waiters(), 1U);
}

TEST(LockTable, WaitersAreGrantedInTheOrderOfTheirArrival) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  for (WaiterId id : {3, 7, 9}) EXPECT_TRUE(isQueued(locks.arrive(id, "k", kLease, kStart)));
  std::vector<WaiterId> order;
  for (auto next = locks.release("k", lease.owner, kStart).next; !next.empty();
       next = locks.release("k", next[0].lease.owner, kStart).next)
    order.push_back(waiterOf(next));
  EXPECT_THAT(order, ElementsAre(3, 7, 9));
  EXPECT_EQ(locks.keys(), 0U);
  EXPECT_EQ(locks.waiters(), 0U);
}

TEST(LockTable, ALeaseStartsWhenItIsGrantedNotWhenItsOwnerArrived) {
  auto locks = table();
  const auto first = granted(locks.arrive(1, "k", kLease, kStart));
  locks.arrive(2, "k", Millis(50), kStart);
  const auto now = kStart + Millis(80);
  const auto next = locks.release("k", first.owner, now).next;
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].lease.validUntil, now + Millis(50) - lock::driftMargin(Millis(50)));
  EXPECT_FALSE(locks.tryArrive("k", kLease, now + Millis(49)));
  EXPECT_TRUE(locks.tryArrive("k", kLease, now + Millis(50)));
}

TEST(LockTable, AnArrivalBehindALineDoesNotOvertakeEvenWhenTheHoldIsOver) {
  auto locks = table();
  locks.arrive(1, "k", kLease, kStart);
  locks.arrive(2, "k", kLease, kStart);
  const auto late = kStart + kLease;
  EXPECT_TRUE(isQueued(locks.arrive(3, "k", kLease, late)));
  EXPECT_FALSE(locks.tryArrive("k", kLease, late));
  EXPECT_EQ(waiterOf(locks.expire("k", late)), 2U);
}

TEST(LockTable, AnExpiredHoldWithoutWaitersIsTakenOverAtOnce) {
  auto locks = table();
  const auto first = granted(locks.arrive(1, "k", kLease, kStart));
  EXPECT_TRUE(isQueued(locks.arrive(2, "k", kLease, kStart + kLease - Millis(1))));
  EXPECT_TRUE(locks.cancel(2, "k"));
  const auto second = granted(locks.arrive(3, "k", kLease, kStart + kLease));
  EXPECT_NE(second.owner, first.owner);
  EXPECT_GT(second.fence, first.fence);
}

TEST(LockTable, TryArriveTakesAFreeKeyAndNeverQueues) {
  auto locks = table();
  const auto grant = locks.tryArrive("k", kLease, kStart);
  ASSERT_TRUE(grant);
  EXPECT_FALSE(locks.tryArrive("k", kLease, kStart + kLease - Millis(1)));
  EXPECT_EQ(locks.waiters(), 0U);
  EXPECT_TRUE(locks.release("k", grant->lease.owner, kStart).released);
  EXPECT_TRUE(locks.tryArrive("k", kLease, kStart));
}

TEST(LockTable, ReleaseByAnotherThanTheOwnerChangesNothing) {
  auto locks = table();
  const auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  locks.arrive(2, "k", kLease, kStart);
  for (const auto* owner : {"", "process-", "process-999"}) {
    const auto release = locks.release("k", owner, kStart);
    EXPECT_FALSE(release.released);
    EXPECT_TRUE(release.next.empty());
  }
  EXPECT_FALSE(locks.release("unknown", lease.owner, kStart).released);
  EXPECT_EQ(locks.waiters(), 1U);
  EXPECT_TRUE(locks.release("k", lease.owner, kStart).released);
}

TEST(LockTable, ASecondReleaseDoesNotFreeTheSuccessor) {
  auto locks = table();
  const auto first = granted(locks.arrive(1, "k", kLease, kStart));
  locks.arrive(2, "k", kLease, kStart);
  locks.arrive(3, "k", kLease, kStart);
  EXPECT_EQ(waiterOf(locks.release("k", first.owner, kStart).next), 2U);
  const auto again = locks.release("k", first.owner, kStart);
  EXPECT_FALSE(again.released);
  EXPECT_TRUE(again.next.empty());
  EXPECT_EQ(locks.waiters(), 1U);
}

TEST(LockTable, ALateOwnerIsToldThatItLostAndItsSuccessorKeepsTheKey) {
  auto locks = table();
  const auto first = granted(locks.arrive(1, "k", kLease, kStart));
  locks.arrive(2, "k", kLease, kStart);
  const auto late = kStart + kLease;
  ASSERT_EQ(waiterOf(locks.expire("k", late)), 2U);
  const auto release = locks.release("k", first.owner, late);
  EXPECT_FALSE(release.released);
  EXPECT_TRUE(release.next.empty());
  EXPECT_FALSE(locks.tryArrive("k", kLease, late));
}

TEST(LockTable, ALateOwnerIsToldThatItLostEvenWithoutASuccessor) {
  auto locks = table();
  const auto alone = granted(locks.arrive(1, "alone", kLease, kStart));
  const auto first = granted(locks.arrive(2, "k", kLease, kStart));
  locks.arrive(3, "k", kLease, kStart);
  EXPECT_FALSE(locks.release("alone", alone.owner, kStart + kLease).released);
  const auto release = locks.release("k", first.owner, kStart + kLease);
  EXPECT_FALSE(release.released);
  EXPECT_EQ(waiterOf(release.next), 3U);
  EXPECT_EQ(locks.keys(), 1U);
}

TEST(LockTable, AReleaseJustBeforeTheLeaseEndsIsInTime) {
  auto locks = table();
  const auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  EXPECT_TRUE(locks.release("k", lease.owner, kStart + kLease - Millis(1)).released);
}

TEST(LockTable, ExpireGrantsTheFirstInLineOnlyWhenTheLeaseIsOver) {
  auto locks = table();
  locks.arrive(1, "k", kLease, kStart);
  locks.arrive(2, "k", kLease, kStart);
  locks.arrive(3, "k", kLease, kStart);
  EXPECT_TRUE(locks.expire("k", kStart + kLease - Millis(1)).empty());
  EXPECT_EQ(waiterOf(locks.expire("k", kStart + kLease)), 2U);
  EXPECT_TRUE(locks.expire("k", kStart + kLease).empty());
  EXPECT_EQ(waiterOf(locks.expire("k", kStart + 2 * kLease)), 3U);
  EXPECT_EQ(locks.waiters(), 0U);
}

TEST(LockTable, ExpireOfAKeyWithoutWaitersGrantsNothing) {
  auto locks = table();
  EXPECT_TRUE(locks.expire("unknown", kStart).empty());
  locks.arrive(1, "k", kLease, kStart);
  EXPECT_TRUE(locks.expire("k", kStart + kLease).empty());
  EXPECT_TRUE(locks.tryArrive("k", kLease, kStart + kLease));
}

TEST(LockTable, ACancelledWaiterIsPassedOver) {
  auto locks = table();
  const auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  locks.arrive(2, "k", kLease, kStart);
  locks.arrive(3, "k", kLease, kStart);
  EXPECT_TRUE(locks.cancel(2, "k"));
  EXPECT_EQ(locks.waiters(), 1U);
  EXPECT_EQ(waiterOf(locks.release("k", lease.owner, kStart).next), 3U);
}

TEST(LockTable, CancelSaysNoToThoseWhoAreNotInLine) {
  auto locks = table();
  const auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  locks.arrive(2, "k", kLease, kStart);
  EXPECT_FALSE(locks.cancel(1, "k")) << "the holder";
  EXPECT_FALSE(locks.cancel(9, "k")) << "an unknown waiter";
  EXPECT_FALSE(locks.cancel(2, "other")) << "an unknown key";
  locks.release("k", lease.owner, kStart);
  EXPECT_FALSE(locks.cancel(2, "k")) << "granted meanwhile";
  locks.arrive(3, "k", kLease, kStart);
  EXPECT_TRUE(locks.cancel(3, "k"));
  EXPECT_FALSE(locks.cancel(3, "k")) << "cancelled before";
  EXPECT_EQ(locks.waiters(), 0U);
}

TEST(LockTable, ALineThatIsFullRefusesUntilAWaiterLeavesIt) {
  auto locks = table({.waitersPerKey = 2, .waitersInAll = 100});
  locks.arrive(1, "k", kLease, kStart);
  EXPECT_TRUE(isQueued(locks.arrive(2, "k", kLease, kStart)));
  EXPECT_TRUE(isQueued(locks.arrive(3, "k", kLease, kStart)));
  EXPECT_TRUE(isRefused(locks.arrive(4, "k", kLease, kStart)));
  EXPECT_FALSE(locks.cancel(4, "k"));
  EXPECT_EQ(locks.waiters(), 2U);
  locks.cancel(2, "k");
  EXPECT_TRUE(isQueued(locks.arrive(5, "k", kLease, kStart)));
}

TEST(LockTable, AllLinesTogetherAreLimitedButFreeKeysAreStillGranted) {
  auto locks = table({.waitersPerKey = 100, .waitersInAll = 2});
  const auto first = granted(locks.arrive(1, "a", kLease, kStart));
  locks.arrive(2, "b", kLease, kStart);
  EXPECT_TRUE(isQueued(locks.arrive(3, "a", kLease, kStart)));
  EXPECT_TRUE(isQueued(locks.arrive(4, "b", kLease, kStart)));
  EXPECT_TRUE(isRefused(locks.arrive(5, "a", kLease, kStart)));
  EXPECT_TRUE(isRefused(locks.arrive(6, "b", kLease, kStart)));
  EXPECT_EQ(granted(locks.arrive(7, "c", kLease, kStart)).key, "c");
  locks.release("a", first.owner, kStart);
  EXPECT_TRUE(isQueued(locks.arrive(8, "b", kLease, kStart)));
}

TEST(LockTable, ExtendGivesANewLeaseCountedFromNow) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  const auto fence = lease.fence;
  locks.arrive(2, "k", kLease, kStart);
  const auto now = kStart + Millis(60);
  ASSERT_TRUE(locks.extend(lease, newLease(Millis(200)), now));
  EXPECT_EQ(lease.validUntil, now + Millis(200) - lock::driftMargin(Millis(200)));
  EXPECT_EQ(lease.fence, fence);
  EXPECT_EQ(locks.contendedUntil("k"), now + Millis(200));
  EXPECT_TRUE(locks.expire("k", now + Millis(199)).empty());
  EXPECT_FALSE(locks.expire("k", now + Millis(200)).empty());
}

TEST(LockTable, ExtendGivesAFenceAboveTheOneAskedForAndAboveItsOwn) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  const auto before = lease.clone();
  ASSERT_TRUE(locks.extend(lease, newFence(before.fence + 50), kStart));
  EXPECT_EQ(lease.fence, before.fence + 51);
  EXPECT_EQ(lease.validUntil, before.validUntil);
  EXPECT_EQ(lease.owner, before.owner);
  const auto raised = lease.fence;
  ASSERT_TRUE(locks.extend(lease, newFence(0), kStart));
  EXPECT_GT(lease.fence, raised);
  EXPECT_GT(granted(locks.arrive(2, "other", kLease, kStart)).fence, lease.fence);
}

TEST(LockTable, ExtendChangesLeaseAndFenceTogether) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  const auto before = lease.clone();
  ASSERT_TRUE(locks.extend(lease, {Millis(300), before.fence}, kStart + Millis(10)));
  EXPECT_GT(lease.fence, before.fence);
  EXPECT_GT(lease.validUntil, before.validUntil);
  EXPECT_FALSE(locks.tryArrive("k", kLease, kStart + Millis(309)));
}

TEST(LockTable, ExtendIsLostWhenALaterEpochOwnsTheFenceAndChangesNothing) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  const auto before = lease.clone();
  EXPECT_FALSE(locks.extend(lease, {Millis(300), std::int64_t{6} << 32}, kStart));
  EXPECT_EQ(lease.fence, before.fence);
  EXPECT_EQ(lease.validUntil, before.validUntil);
  EXPECT_TRUE(locks.tryArrive("k", kLease, kStart + kLease)) << "the lease was extended";
}

TEST(LockTable, ExtendOfALostHoldChangesNothing) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  const auto before = lease.clone();
  locks.arrive(2, "k", kLease, kStart);
  const auto late = kStart + kLease;
  EXPECT_FALSE(locks.extend(lease, {kLease, 0}, late)) << "expired";
  ASSERT_FALSE(locks.expire("k", late).empty());
  EXPECT_FALSE(locks.extend(lease, {kLease, 0}, late)) << "taken by a successor";
  EXPECT_EQ(lease.fence, before.fence);
  EXPECT_EQ(lease.validUntil, before.validUntil);
}

TEST(LockTable, ExtendDoesNotCreateAReleasedHoldAnew) {
  auto locks = table();
  auto lease = granted(locks.arrive(1, "k", kLease, kStart));
  locks.release("k", lease.owner, kStart);
  EXPECT_FALSE(locks.extend(lease, newLease(kLease), kStart));
  EXPECT_EQ(locks.keys(), 0U);
  EXPECT_TRUE(locks.tryArrive("k", kLease, kStart));
}

TEST(LockTable, OwnersAreUniqueAndFencesStrictlyGrow) {
  auto locks = table();
  std::set<std::string> owners;
  std::int64_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto key = "k" + std::to_string(i % 10);
    const auto now = kStart + i * kLease;
    const auto lease = i % 2 == 0 ? granted(locks.arrive(1, key, kLease, now))
                                  : locks.tryArrive(key, kLease, now)->lease.clone();
    EXPECT_TRUE(owners.insert(lease.owner).second) << lease.owner;
    EXPECT_GT(lease.fence, last);
    last = lease.fence;
    if (i % 3 == 0) locks.release(key, lease.owner, now);
  }
}

TEST(LockTable, HoldersStopTrustingALeaseBeforeItIsHandedOn) {
  for (const auto length : {Millis(3), kLease, Millis(3000), Millis(600'000)}) {
    auto locks = table();
    const auto lease = granted(locks.arrive(1, "k", length, kStart));
    locks.arrive(2, "k", length, kStart);
    EXPECT_GT(lease.validUntil, kStart);
    EXPECT_LT(lease.validUntil, kStart + length);
    EXPECT_TRUE(locks.expire("k", lease.validUntil).empty()) << length.count();
  }
}

TEST(LockTable, ContendedUntilIsTheEndOfAHoldWithWaiters) {
  auto locks = table();
  EXPECT_EQ(locks.contendedUntil("k"), std::nullopt);
  locks.arrive(1, "k", kLease, kStart);
  EXPECT_EQ(locks.contendedUntil("k"), std::nullopt);
  locks.arrive(2, "k", kLease, kStart + Millis(10));
  EXPECT_EQ(locks.contendedUntil("k"), kStart + kLease);
  locks.cancel(2, "k");
  EXPECT_EQ(locks.contendedUntil("k"), std::nullopt);
}

TEST(LockTable, DropWaitersEmptiesTheLinesAndLeavesTheHolders) {
  auto locks = table({.waitersPerKey = 1, .waitersInAll = 2});
  const auto first = granted(locks.arrive(1, "a", kLease, kStart));
  const auto second = granted(locks.arrive(2, "b", kLease, kStart));
  locks.arrive(3, "a", kLease, kStart);
  locks.arrive(4, "b", kLease, kStart);
  locks.dropWaiters();
  EXPECT_EQ(locks.waiters(), 0U);
  EXPECT_FALSE(locks.cancel(3, "a"));
  EXPECT_TRUE(isQueued(locks.arrive(5, "a", kLease, kStart)));
  EXPECT_EQ(waiterOf(locks.release("a", first.owner, kStart).next), 5U);
  const auto release = locks.release("b", second.owner, kStart);
  EXPECT_TRUE(release.released);
  EXPECT_TRUE(release.next.empty());
}

TEST(LockTable, SweepForgetsOnlyExpiredHoldsWithoutWaiters) {
  auto locks = table();
  locks.arrive(1, "expired", kLease, kStart);
  locks.arrive(2, "contended", kLease, kStart);
  locks.arrive(3, "contended", kLease, kStart);
  auto held = granted(locks.arrive(4, "held", kLease + Millis(1), kStart));
  locks.sweep(kStart + kLease - Millis(1));
  EXPECT_EQ(locks.keys(), 3U);
  locks.sweep(kStart + kLease);
  EXPECT_EQ(locks.keys(), 2U);
  EXPECT_TRUE(locks.extend(held, newLease(kLease), kStart + kLease));
  EXPECT_EQ(waiterOf(locks.expire("contended", kStart + kLease)), 3U);
}

TEST(LockTable, HoldersThatNeverComeBackAreForgottenInTime) {
  auto locks = table();
  for (int i = 0; i < 20'000; ++i)
    locks.tryArrive("k" + std::to_string(i), kLease, kStart + i * kLease);
  EXPECT_LT(locks.keys(), 5000U);
}

// Waiters 1 … `count` behind a holder whose lease is returned.
Lease lineOf(LockTable& locks, WaiterId count, std::size_t together) {
  auto holder = granted(locks.arrive(100, "k", kLease, kStart, together));
  for (WaiterId id = 1; id <= count; ++id) locks.arrive(id, "k", kLease, kStart, together);
  return holder;
}

TEST(LockTable, NeighboursInLineHoldTogetherWithConsecutiveFences) {
  auto locks = table();
  const auto holder = lineOf(locks, 5, 3);
  const auto next = locks.release("k", holder.owner, kStart).next;
  EXPECT_THAT(waitersOf(next), ElementsAre(1, 2, 3));
  EXPECT_EQ(locks.waiters(), 2U);
  std::set<std::string> owners;
  for (std::size_t i = 0; i < next.size(); ++i) {
    EXPECT_EQ(next[i].lease.fence, next[0].lease.fence + static_cast<std::int64_t>(i));
    EXPECT_EQ(next[i].lease.ordinal, i);
    EXPECT_EQ(next[i].lease.company, next[0].lease.company);
    EXPECT_TRUE(owners.insert(next[i].lease.owner).second);
  }
  EXPECT_EQ(next[0].lease.company->size(), 3U);
}

TEST(LockTable, ARequestThatWantsToBeAloneIsNotInACompany) {
  auto locks = table();
  const auto holder = granted(locks.arrive(1, "k", kLease, kStart));
  for (WaiterId id : {2, 3}) locks.arrive(id, "k", kLease, kStart, 8);
  locks.arrive(4, "k", kLease, kStart);
  locks.arrive(5, "k", kLease, kStart, 8);
  const auto pair = locks.release("k", holder.owner, kStart).next;
  EXPECT_THAT(waitersOf(pair), ElementsAre(2, 3));
  locks.release("k", pair[0].lease.owner, kStart);
  const auto alone = locks.release("k", pair[1].lease.owner, kStart).next;
  EXPECT_THAT(waitersOf(alone), ElementsAre(4));
  EXPECT_EQ(alone[0].lease.company, nullptr);
}

TEST(LockTable, AWaiterThatAllowsNoMembersAtAllHoldsTheKeyAlone) {
  auto locks = table();
  const auto holder = granted(locks.arrive(1, "k", kLease, kStart));
  for (WaiterId id : {2, 3}) locks.arrive(id, "k", kLease, kStart, 0);
  EXPECT_EQ(waiterOf(locks.release("k", holder.owner, kStart).next), 2U);
}

TEST(LockTable, ACompanyIsNoLargerThanEachOfItsMembersAllows) {
  auto locks = table();
  const auto holder = granted(locks.arrive(1, "k", kLease, kStart));
  for (WaiterId id : {2, 3}) locks.arrive(id, "k", kLease, kStart, 8);
  for (WaiterId id : {4, 5}) locks.arrive(id, "k", kLease, kStart, 3);
  EXPECT_THAT(waitersOf(locks.release("k", holder.owner, kStart).next), ElementsAre(2, 3, 4));
}

TEST(LockTable, ASharedKeyIsFreeWhenItsLastMemberHasReleasedIt) {
  auto locks = table();
  const auto holder = lineOf(locks, 4, 3);
  const auto members = locks.release("k", holder.owner, kStart).next;
  for (const std::size_t i : {1, 0}) {
    const auto release = locks.release("k", members[i].lease.owner, kStart);
    EXPECT_TRUE(release.released);
    EXPECT_TRUE(release.next.empty());
  }
  EXPECT_FALSE(locks.release("k", members[1].lease.owner, kStart).released);
  EXPECT_THAT(waitersOf(locks.release("k", members[2].lease.owner, kStart).next), ElementsAre(4));
}

TEST(LockTable, AMemberThatDoesNotComeBackHoldsTheKeyUntilTheLeaseEnds) {
  auto locks = table();
  const auto holder = lineOf(locks, 3, 2);
  const auto members = locks.release("k", holder.owner, kStart).next;
  locks.release("k", members[0].lease.owner, kStart);
  EXPECT_TRUE(locks.expire("k", kStart + kLease - Millis(1)).empty());
  EXPECT_THAT(waitersOf(locks.expire("k", kStart + kLease)), ElementsAre(3));
  auto late = members[1].lease.clone();
  EXPECT_FALSE(locks.extend(late, newFence(1), kStart + kLease));
  EXPECT_FALSE(locks.release("k", late.owner, kStart + kLease).released);
}

TEST(LockTable, AMemberGetsAFenceAboveThoseOfAllMembers) {
  auto locks = table();
  const auto holder = lineOf(locks, 3, 3);
  auto members = locks.release("k", holder.owner, kStart).next;
  ASSERT_TRUE(locks.extend(members[0].lease, newFence(1), kStart));
  EXPECT_GT(members[0].lease.fence, members[2].lease.fence);
}

namespace {

// Drives a table with random calls under a virtual clock and keeps its own record of the answers.
class Simulation {
 public:
  explicit Simulation(std::uint32_t seed) : random_(seed) {}

  void step() {
    now_ += Millis(pick(4));
    switch (pick(10)) {
      case 0:
      case 1:
      case 2: arrive(); break;
      case 3: tryArrive(); break;
      case 4: cancel(); break;
      case 5:
      case 6: release(); break;
      case 7: expire(anyKey()); break;
      case 8: extend(); break;
      default:
        if (pick(10) == 0) locks_.sweep(now_);
    }
    std::size_t inLine = 0;
    for (const auto& [key, state] : keys_) inLine += state.line.size();
    ASSERT_EQ(locks_.waiters(), inLine);
  }

  // Lets every lease run out until all lines are empty.
  void drain() {
    for (const auto& key : kKeys)
      while (!keys_[key].line.empty()) {
        now_ += kLongest;
        const auto before = keys_[key].line.size();
        expire(key);
        ASSERT_EQ(keys_[key].line.size(), before - 1) << "a waiter was not granted";
      }
    EXPECT_EQ(locks_.waiters(), 0U);
    EXPECT_EQ(ended_.size(), lastWaiter_) << "an arrival has got lost";
  }

  std::size_t grants() const { return holds_.size(); }
  std::size_t losses() const { return losses_; }
  std::size_t refusals() const { return refusals_; }

 private:
  struct Hold {
    Lease lease;
    SteadyTime expiresAt;
    bool ended = false;  // given back
  };
  struct Waiting {
    WaiterId id;
    Millis lease;
  };
  struct Key {
    std::deque<Waiting> line;
    std::optional<std::size_t> latest;  // index of the last hold granted
  };

  static constexpr Millis kLongest{60};
  static constexpr std::size_t kPerKey = 4;
  inline static const std::vector<std::string> kKeys{"a", "b", "c"};

  std::uint32_t pick(std::uint32_t choices) { return random_() % choices; }
  const std::string& anyKey() { return kKeys[pick(kKeys.size())]; }
  Millis anyLease() { return Millis(5 + pick(kLongest.count() - 4)); }

  bool isHeld(const Key& key) const {
    return key.latest && !holds_[*key.latest].ended && holds_[*key.latest].expiresAt > now_;
  }

  bool isCurrent(std::size_t hold) {
    return isHeld(keys_[holds_[hold].lease.key]) && keys_[holds_[hold].lease.key].latest == hold;
  }

  void end(WaiterId waiter) {
    ASSERT_TRUE(ended_.insert(waiter).second) << "waiter " << waiter << " ended twice";
  }

  void recordGrant(const Lease& lease, const std::string& key, Millis length) {
    ASSERT_FALSE(isHeld(keys_[key])) << "two holders of " << key;
    ASSERT_EQ(lease.key, key);
    ASSERT_GT(lease.fence, lastFence_);
    ASSERT_TRUE(owners_.insert(lease.owner).second);
    ASSERT_EQ(lease.validUntil, now_ + length - lock::driftMargin(length));
    lastFence_ = lease.fence;
    keys_[key].latest = holds_.size();
    holds_.push_back({lease.clone(), now_ + length});
  }

  void recordNext(const LockTable::Grants& next, const std::string& key) {
    auto& line = keys_[key].line;
    ASSERT_EQ(next.size(), line.empty() ? 0U : 1U);
    if (next.empty()) return;
    ASSERT_EQ(next[0].waiter, line.front().id) << "a waiter was overtaken";
    const auto length = line.front().lease;
    line.pop_front();
    end(next[0].waiter);
    recordGrant(next[0].lease, key, length);
  }

  void arrive() {
    const auto id = ++lastWaiter_;
    const auto& key = anyKey();
    const auto length = anyLease();
    auto& state = keys_[key];
    const auto arrival = locks_.arrive(id, key, length, now_);
    if (!isHeld(state) && state.line.empty()) {
      ASSERT_TRUE(std::holds_alternative<LockTable::Grant>(arrival));
      ASSERT_EQ(std::get<LockTable::Grant>(arrival).waiter, id);
      end(id);
      recordGrant(granted(arrival), key, length);
    } else if (state.line.size() < kPerKey) {
      ASSERT_TRUE(isQueued(arrival));
      state.line.push_back({id, length});
    } else {
      ASSERT_TRUE(isRefused(arrival));
      ++refusals_;
      end(id);
    }
  }

  void tryArrive() {
    const auto& key = anyKey();
    const auto length = anyLease();
    const bool isFree = !isHeld(keys_[key]) && keys_[key].line.empty();
    const auto grant = locks_.tryArrive(key, length, now_);
    ASSERT_EQ(grant.has_value(), isFree);
    if (grant) recordGrant(grant->lease, key, length);
  }

  void cancel() {
    const auto& key = anyKey();
    auto& line = keys_[key].line;
    const bool any = pick(3) == 0 || line.empty();
    const WaiterId id = any ? pick(lastWaiter_ + 2) : line[pick(line.size())].id;
    const auto removed = std::erase_if(line, [&](const Waiting& w) { return w.id == id; });
    ASSERT_EQ(locks_.cancel(id, key), removed == 1);
    if (removed == 1) end(id);
  }

  // A hold that may be current, given back before, expired or taken by a successor.
  std::optional<std::size_t> anyHold() {
    if (holds_.empty()) return std::nullopt;
    const auto& state = keys_[anyKey()];
    if (pick(2) == 0) return state.latest;
    return holds_.size() - 1 - pick(std::min<std::size_t>(holds_.size(), 10));
  }

  void release() {
    const auto index = anyHold();
    if (!index) return;
    const auto lease = holds_[*index].lease.clone();
    const bool current = isCurrent(*index);
    const bool latest = keys_[lease.key].latest == *index && !holds_[*index].ended;
    const auto release = locks_.release(lease.key, lease.owner, now_);
    ASSERT_EQ(release.released, current);
    if (!current) ++losses_;
    // Also a late owner's release lets the next one in.
    if (!latest) {
      ASSERT_TRUE(release.next.empty());
      return;
    }
    holds_[*index].ended = true;
    recordNext(release.next, lease.key);
  }

  void expire(const std::string& key) {
    auto& state = keys_[key];
    const bool due = !isHeld(state);
    const auto next = locks_.expire(key, now_);
    if (!due || state.line.empty()) {
      ASSERT_TRUE(next.empty());
      return;
    }
    recordNext(next, key);
  }

  void extend() {
    const auto index = anyHold();
    if (!index) return;
    auto& hold = holds_[*index];
    Extension extension;
    if (pick(2) == 0) extension.lease = anyLease();
    if (pick(2) == 0) extension.fenceAbove = lastFence_ + pick(5) - 2;
    const bool current = isCurrent(*index);
    const auto before = hold.lease.clone();
    ASSERT_EQ(locks_.extend(hold.lease, extension, now_), current);
    if (!current || !extension.fenceAbove) {
      ASSERT_EQ(hold.lease.fence, before.fence);
    } else {
      ASSERT_GT(hold.lease.fence, std::max(lastFence_, *extension.fenceAbove));
      lastFence_ = hold.lease.fence;
    }
    if (current && extension.lease) hold.expiresAt = now_ + *extension.lease;
  }

  std::mt19937 random_;
  LockTable locks_{9, "process-", {.waitersPerKey = kPerKey, .waitersInAll = 100}};
  SteadyTime now_ = kStart;
  std::map<std::string, Key> keys_;
  std::vector<Hold> holds_;
  std::set<std::string> owners_;
  std::set<WaiterId> ended_;  // granted, cancelled or refused; all others stand in a line
  std::int64_t lastFence_ = 0;
  WaiterId lastWaiter_ = 0;
  std::size_t losses_ = 0;
  std::size_t refusals_ = 0;
};

}  // namespace

TEST(LockTable, ThousandsOfRandomStepsNeverBreakItsPromises) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation(seed);
    for (int i = 0; i < 5'000; ++i) {
      simulation.step();
      if (HasFatalFailure()) FAIL() << "in step " << i;
    }
    simulation.drain();
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_GT(simulation.grants(), 500U);
    EXPECT_GT(simulation.losses(), 50U);
    EXPECT_GT(simulation.refusals(), 20U);
  }
}

}  // namespace festa::test
