#include "lock/company.h"

#include "lock/memory/memory_lock_storage.h"
#include "tests/support/loops.h"

#include <gmock/gmock.h>

namespace festa::test {

namespace {

using lock::Company;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> numbersIn(const std::vector<void*>& works) {
  std::vector<int> numbers;
  for (void* const work : works) numbers.push_back(*static_cast<int*>(work));
  return numbers;
}

// What the member was given. A leader dismisses the others.
drogon::Task<std::vector<int>> gather(Company& company, std::size_t ordinal) {
  int mine = static_cast<int>(ordinal) * 10;
  const auto all = co_await company.gather(ordinal, &mine, nullptr);
  // What the others brought is in their frames, which end when they are dismissed.
  auto numbers = numbersIn(all);
  if (!all.empty()) company.dismiss();
  co_return numbers;
}

class CompanyTest : public testing::Test {
 protected:
  auto start(std::size_t ordinal) {
    return startOn(loops_.at(ordinal % 2), [this, ordinal] { return gather(company_, ordinal); });
  }
  // Returns when it has come.
  auto come(std::size_t ordinal) {
    auto member = start(ordinal);
    std::promise<void> suspended;
    loops_.at(ordinal % 2)->queueInLoop([&] { suspended.set_value(); });
    suspended.get_future().wait();
    return member;
  }

  Loops loops_{2};
  Company company_{"hold-1", 3};
};

}  // namespace

TEST_F(CompanyTest, TheLastToComeGetsTheWorkOfAllInTheOrderOfTheOrdinals) {
  auto third = come(2);
  auto first = come(0);
  auto second = come(1);
  EXPECT_THAT(finish(std::move(second)), ElementsAre(0, 10, 20));
  EXPECT_THAT(finish(std::move(first)), IsEmpty());
  EXPECT_THAT(finish(std::move(third)), IsEmpty());
}

// What the leader queues after it, the grants of the next holders among it, comes first.
TEST_F(CompanyTest, TheDismissedGoOnBehindWhatTheirLoopHasToDo) {
  std::vector<std::string> order;
  auto follow = [&]() -> drogon::Task<> {
    int mine = 0;
    co_await company_.gather(0, &mine, nullptr);
    order.emplace_back("dismissed");
  };
  auto lead = [&]() -> drogon::Task<> {
    int mine = 2;
    co_await company_.gather(2, &mine, nullptr);
    company_.dismiss();
    loops_.at()->queueInLoop([&] { order.emplace_back("queued after it"); });
  };
  company_.leave(1);
  auto first = startOn(loops_.at(), follow);
  auto third = startOn(loops_.at(), lead);
  finish(std::move(third));
  finish(std::move(first));
  EXPECT_THAT(order, ElementsAre("queued after it", "dismissed"));
}

TEST_F(CompanyTest, NoMemberGoesOnBeforeAllHaveComeOrLeft) {
  auto first = come(0);
  auto third = come(2);
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  company_.leave(1);
  EXPECT_THAT(finish(std::move(first)), ElementsAre(0, 20));
  EXPECT_THAT(finish(std::move(third)), IsEmpty());
}

TEST_F(CompanyTest, AMemberThatHasLeftHasNoWork) {
  company_.leave(0);
  auto third = come(2);
  auto second = come(1);
  EXPECT_THAT(finish(std::move(second)), ElementsAre(10, 20));
  EXPECT_THAT(finish(std::move(third)), IsEmpty());
}

// It has failed before it could dismiss them.
TEST_F(CompanyTest, ALeaderThatLeavesDismissesTheOthers) {
  auto lead = [this]() -> drogon::Task<std::size_t> {
    int mine = 0;
    const auto all = co_await company_.gather(0, &mine, nullptr);
    company_.leave(0);
    co_return all.size();
  };
  auto second = come(1);
  auto third = come(2);
  auto first = startOn(loops_.at(), lead);
  EXPECT_EQ(finish(std::move(first)), 3U);
  EXPECT_THAT(finish(std::move(second)), IsEmpty());
  EXPECT_THAT(finish(std::move(third)), IsEmpty());
}

TEST_F(CompanyTest, LeavingAfterTheMeetingChangesNothing) {
  company_.leave(1);
  company_.leave(2);
  EXPECT_THAT(finish(start(0)), ElementsAre(0));
  company_.leave(0);
  company_.dismiss();
}

// A hundred requests on two loops: every company of them does its work in the order of arrival.
TEST(CompanyOfAMemoryLock, DoesItsWorkInTheOrderOfArrival) {
  Loops loops{2};
  const auto storage = lock::MemoryLockStorage::create(1, loops.at());
  lock::LockRequest request{"k", lock::Millis{10'000}, lock::Millis{10'000}, 16};
  const auto holder = runOn(loops.at(), [&] { return storage->tryLock(request); });
  std::vector<int> order;  // written by one leader at a time
  std::size_t leaders = 0;
  auto enter = [&](int number) -> drogon::Task<> {
    auto lease = co_await storage->tryLock(request);
    const auto all = co_await lease->company->gather(lease->ordinal, &number, nullptr);
    for (const int one : numbersIn(all)) order.push_back(one);
    if (!all.empty()) ++leaders;
    if (!all.empty()) lease->company->dismiss();
    co_await storage->unlock(lease->clone());
  };
  std::vector<std::future<void>> all;
  std::vector<int> arrivals;
  for (int i = 0; i < 96; ++i) {
    all.push_back(startOn(loops.at(static_cast<std::size_t>(i % 2)), [&, i] { return enter(i); }));
    ASSERT_TRUE(eventually([&] { return storage->waiters() == static_cast<std::size_t>(i + 1); }));
    arrivals.push_back(i);
  }
  runOn(loops.at(), [&] { return storage->unlock(holder->clone()); });
  for (auto& one : all) finish(std::move(one));
  EXPECT_EQ(order, arrivals);
  EXPECT_EQ(leaders, 6U);
  EXPECT_EQ(storage->keys(), 0U);
}

}  // namespace festa::test
