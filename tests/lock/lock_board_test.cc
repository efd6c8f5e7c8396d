#include "lock/lock_board.h"

#include <gtest/gtest.h>

#include <thread>

namespace festa::test {

using lock::LockBoard;

namespace {

const LockBoard::Kind kPins{"pins", "memory"};

}  // namespace

TEST(LockBoard, ARequestWaitsThenHoldsThenIsGone) {
  LockBoard board(10);
  {
    LockBoard::Entry entry(board, "pins", "memory", "pins:1");
    ASSERT_EQ(board.rows(9).size(), 1U);
    EXPECT_FALSE(board.rows(9)[0].holds);
    EXPECT_EQ(board.rows(9)[0].fence, std::nullopt);
    EXPECT_EQ(board.counts()[kPins].waiting, 1U);
    const auto before = lock::SteadyClock::now();
    entry.holds(7);
    ASSERT_EQ(board.rows(9).size(), 1U);
    const auto row = board.rows(9)[0];
    EXPECT_TRUE(row.holds);
    EXPECT_EQ(row.lockable, "pins");
    EXPECT_EQ(row.strategy, "memory");
    EXPECT_EQ(row.key, "pins:1");
    EXPECT_EQ(row.fence, 7);
    EXPECT_GE(row.since, before) << "it counts from the grant";
    EXPECT_EQ(board.counts()[kPins].waiting, 0U);
    EXPECT_EQ(board.counts()[kPins].holding, 1U);
  }
  EXPECT_TRUE(board.rows(9).empty());
  EXPECT_EQ(board.counts()[kPins].holding, 0U);
}

TEST(LockBoard, AWaiterThatGivesUpIsGone) {
  LockBoard board(10);
  { const LockBoard::Entry entry(board, "pins", "memory", "pins:1"); }
  EXPECT_TRUE(board.rows(9).empty());
  EXPECT_EQ(board.counts()[kPins].waiting, 0U);
}

TEST(LockBoard, KindsThatWereSeenStayWithZeros) {
  LockBoard board(10);
  EXPECT_TRUE(board.counts().empty());
  { const LockBoard::Entry entry(board, "pins", "memory", "pins:1"); }
  EXPECT_EQ(board.counts().size(), 1U);
}

TEST(LockBoard, IsFullByItsHoldersNotByItsWaiters) {
  LockBoard board(1);
  LockBoard::Entry holder(board, "pins", "memory", "pins:1");
  const LockBoard::Entry waiter(board, "pins", "memory", "pins:1");
  EXPECT_FALSE(board.isFull());
  holder.holds(std::nullopt);
  EXPECT_TRUE(board.isFull());
  EXPECT_TRUE(LockBoard(0).isFull());
}

TEST(LockBoard, ShowsHoldersFirstAndNoMoreThanAskedFor) {
  LockBoard board(10);
  const LockBoard::Entry first(board, "pins", "memory", "waits first");
  LockBoard::Entry second(board, "pins", "memory", "holds");
  const LockBoard::Entry third(board, "pins", "memory", "waits last");
  second.holds(1);
  const auto rows = board.rows(2);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "holds");
  EXPECT_EQ(rows[1].key, "waits first");
  EXPECT_EQ(board.rows(3).at(2).key, "waits last");
}

TEST(LockBoard, CountsStayRightWhenManyThreadsComeAndGo) {
  LockBoard board(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&board, i] {
      for (int round = 0; round < 2000; ++round) {
        LockBoard::Entry entry(board, "pins", i % 2 == 0 ? "memory" : "none", "k");
        if (round % 3 != 0) entry.holds(round);
        if (round % 50 == 0) board.rows(10);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(board.rows(1).empty());
  for (const auto& [kind, counts] : board.counts())
    EXPECT_EQ(counts.waiting + counts.holding, 0U) << kind.second;
}

TEST(LockBoard, OfThoseThatHoldTogetherOneCountsForTheLimit) {
  LockBoard board(2);
  LockBoard::Entry first(board, "coupons", "memory", "k");
  LockBoard::Entry second(board, "coupons", "memory", "k");
  first.holds(1);
  second.holds(2, true);
  EXPECT_FALSE(board.isFull());
  {
    LockBoard::Entry other(board, "seats", "memory", "s");
    other.holds(3);
    EXPECT_TRUE(board.isFull());
  }
  EXPECT_FALSE(board.isFull());
  EXPECT_EQ(board.counts().at({"coupons", "memory"}).holding, 2U);
}

}  // namespace festa::test
