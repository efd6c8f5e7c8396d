#include "services/write/batches.h"

#include <gmock/gmock.h>

#include <list>
#include <string>

namespace festa::test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Write {
  int number;
  std::string seat;
  const std::string& row() const { return seat; }
};

class BatchQueueTest : public testing::Test {
 protected:
  void arrive(int number, const std::string& seat) {
    queue_.arrive(writes_.emplace_back(Write{number, seat}));
  }
  std::vector<int> leave() {
    std::vector<int> numbers;
    for (const auto* const write : queue_.leave()) numbers.push_back(write->number);
    return numbers;
  }

  std::list<Write> writes_;
  BatchQueue<Write> queue_{{.members = 3, .underWay = 2}};
};

}  // namespace

TEST_F(BatchQueueTest, ALoneWriteLeavesAtOnce) {
  EXPECT_THAT(leave(), IsEmpty());
  arrive(1, "a");
  EXPECT_THAT(leave(), ElementsAre(1));
  EXPECT_EQ(queue_.underWay(), 1U);
}

TEST_F(BatchQueueTest, AWriteDoesNotWaitBesideAFreeConnection) {
  arrive(1, "a");
  leave();
  arrive(2, "b");
  EXPECT_THAT(leave(), ElementsAre(2));
  EXPECT_EQ(queue_.underWay(), 2U);
}

TEST_F(BatchQueueTest, WhatArrivesWhileEveryConnectionIsBusyLeavesTogether) {
  arrive(1, "1");
  leave();
  arrive(2, "2");
  leave();
  for (int i = 3; i <= 5; ++i) arrive(i, std::to_string(i));
  EXPECT_THAT(leave(), IsEmpty());
  EXPECT_EQ(queue_.waiting(), 3U);
  queue_.finished();
  EXPECT_THAT(leave(), ElementsAre(3, 4, 5));
  EXPECT_THAT(leave(), IsEmpty());
}

TEST_F(BatchQueueTest, ABatchHasAtMostSoManyMembersAndTheRestFollowsInOrder) {
  for (int i = 1; i <= 5; ++i) arrive(i, std::to_string(i));
  EXPECT_THAT(leave(), ElementsAre(1, 2, 3));
  EXPECT_THAT(leave(), ElementsAre(4, 5));
  EXPECT_EQ(queue_.waiting(), 0U);
}

TEST_F(BatchQueueTest, TwoMembersOfOneRowNeverShareABatch) {
  arrive(1, "a");
  arrive(2, "a");
  arrive(3, "b");
  arrive(4, "a");
  EXPECT_THAT(leave(), ElementsAre(1, 3));
  EXPECT_THAT(leave(), ElementsAre(2));
  queue_.finished();
  queue_.finished();
  EXPECT_THAT(leave(), ElementsAre(4));
}

TEST_F(BatchQueueTest, AnEmptyBatchIsNotUnderWay) {
  leave();
  EXPECT_EQ(queue_.underWay(), 0U);
}

}  // namespace festa::test
