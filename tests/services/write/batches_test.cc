#include "services/write/batches.h"

#include "tests/support/loops.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <set>

namespace festa::test {

namespace {

using testing::ElementsAre;

struct TestMember : BatchMember {
  explicit TestMember(int of) : number(of) {}
  const int& row() const { return number; }

  const int number;
  bool isWritten = false;
};

// Batches whose transactions end when the test says so, on a thread of the test's choice.
class TestBatches : public Batches<TestMember> {
 public:
  using Batches::Batches;

  // Waits until a batch with this member is under way; its members.
  std::vector<int> underWay(int member) {
    std::vector<int> numbers;
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard guard(mutex_);
      const auto* const found = find(member);
      if (found != nullptr) numbers = found->numbers;
      return found != nullptr;
    })) << member;
    return numbers;
  }
  bool isUnderWay(int member) {
    const std::lock_guard guard(mutex_);
    return find(member) != nullptr;
  }
  // The transaction of the batch with this member is acknowledged.
  void acknowledge(int member, trantor::EventLoop* on) {
    std::coroutine_handle<> waiting;
    {
      const std::lock_guard guard(mutex_);
      auto* const found = find(member);
      ASSERT_NE(found, nullptr) << member;
      waiting = found->waiting;
      written_.erase(written_.begin() + (found - written_.data()));
    }
    on->queueInLoop([waiting] { waiting.resume(); });
  }

 private:
  struct Written {
    std::vector<int> numbers;
    std::coroutine_handle<> waiting;
  };
  class Acknowledgement {
   public:
    Acknowledgement(TestBatches& batches, std::vector<int> numbers)
        : batches_(batches), numbers_(std::move(numbers)) {}
    Acknowledgement(const Acknowledgement&) = delete;
    Acknowledgement& operator=(const Acknowledgement&) = delete;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
      const std::lock_guard guard(batches_.mutex_);
      batches_.written_.push_back({numbers_, handle});
    }
    void await_resume() const noexcept {}

   private:
    TestBatches& batches_;
    const std::vector<int> numbers_;
  };

  drogon::Task<> write(std::vector<TestMember*> batch) override {
    std::vector<int> numbers;
    for (const auto* const member : batch) numbers.push_back(member->number);
    Acknowledgement acknowledgement(*this, numbers);
    co_await acknowledgement;
    for (auto* const member : batch) member->isWritten = true;
  }
  Written* find(int member) {
    for (auto& written : written_)
      if (std::count(written.numbers.begin(), written.numbers.end(), member) > 0) return &written;
    return nullptr;
  }

  std::mutex mutex_;
  std::vector<Written> written_;  // guarded by mutex_
};

// Two loops; a batch has up to 64 members, and two of each loop are under way at a time.
class BatchesTest : public testing::Test {
  std::mutex mutex_;
  std::set<int> answered_;  // guarded by mutex_

 protected:
  // Numbers that arrive in one turn of the loop.
  void arrive(const std::vector<int>& numbers, std::size_t loop = 0) {
    loops_.at(loop)->queueInLoop([this, numbers, loop] {
      for (const int number : numbers) join(number, loop);
    });
  }
  // A turn of the loop has passed: what could leave has left.
  void settle(std::size_t loop = 0) {
    for (int turn = 0; turn < 3; ++turn) {
      std::promise<void> passed;
      loops_.at(loop)->queueInLoop([&] { passed.set_value(); });
      passed.get_future().wait();
    }
  }
  std::set<int> answered() {
    const std::lock_guard guard(mutex_);
    return answered_;
  }
  bool isAnswered(const std::set<int>& numbers) {
    return eventually([&] { return answered() == numbers; });
  }

  Loops loops_{2};
  Loops other_;  // where a database client may resume
  TestBatches& batches_ =
      keptForever(std::make_unique<TestBatches>(BatchLimits{.members = 64, .underWay = 2}));

 private:
  drogon::AsyncTask join(int number, std::size_t loop) {
    TestMember member(number);
    co_await batches_.join(member);
    EXPECT_TRUE(member.isWritten) << number;
    EXPECT_TRUE(loops_.at(loop)->isInLoopThread()) << number;
    const std::lock_guard guard(mutex_);
    EXPECT_TRUE(answered_.insert(number).second) << number << " twice";
  }
};

}  // namespace

TEST_F(BatchesTest, TwoBatchesAreUnderWayAndTheRestLeavesTogetherWithTheFirstThatEnds) {
  arrive({1});
  EXPECT_THAT(batches_.underWay(1), ElementsAre(1));
  arrive({2});
  EXPECT_THAT(batches_.underWay(2), ElementsAre(2)) << "it waited beside a free connection";
  arrive({3, 4});
  arrive({5});
  settle();
  EXPECT_FALSE(batches_.isUnderWay(3));
  batches_.acknowledge(2, loops_.at());
  EXPECT_THAT(batches_.underWay(3), ElementsAre(3, 4, 5));
  EXPECT_TRUE(isAnswered({2})) << "the first batch is not acknowledged";
  batches_.acknowledge(3, loops_.at());
  EXPECT_TRUE(isAnswered({2, 3, 4, 5}));
  EXPECT_TRUE(batches_.isUnderWay(1));
  batches_.acknowledge(1, loops_.at());
  EXPECT_TRUE(isAnswered({1, 2, 3, 4, 5}));
}

TEST_F(BatchesTest, LoopsShareNoBatchAndDoNotWaitForEachOther) {
  arrive({1}, 0);
  batches_.underWay(1);
  arrive({2}, 0);
  batches_.underWay(2);
  arrive({3}, 0);
  arrive({11, 12}, 1);
  EXPECT_THAT(batches_.underWay(11), ElementsAre(11, 12));
  arrive({13}, 1);
  EXPECT_THAT(batches_.underWay(13), ElementsAre(13));
  settle(0);
  EXPECT_FALSE(batches_.isUnderWay(3)) << "another loop's connection";
  batches_.acknowledge(11, loops_.at(1));
  EXPECT_TRUE(isAnswered({11, 12}));
  settle(0);
  EXPECT_FALSE(batches_.isUnderWay(3)) << "another loop's batch has ended";
  for (const int member : {1, 2, 13}) batches_.acknowledge(member, loops_.at(member > 10 ? 1 : 0));
  batches_.underWay(3);
  batches_.acknowledge(3, loops_.at());
  EXPECT_TRUE(isAnswered({1, 2, 3, 11, 12, 13}));
}

TEST_F(BatchesTest, MembersResumeOnTheirOwnLoopWhereverTheTransactionEnds) {
  arrive({1, 2}, 0);
  arrive({11, 12}, 1);
  batches_.underWay(1);
  batches_.underWay(11);
  batches_.acknowledge(1, other_.at());
  batches_.acknowledge(11, other_.at());
  EXPECT_TRUE(isAnswered({1, 2, 11, 12}));
}

// Arrivals and ends in any order, on both loops at once.
TEST_F(BatchesTest, EveryMemberIsAnsweredOnceAfterItsOwnBatch) {
  constexpr int kMembers = 400;
  std::mt19937 random(7);  // NOLINT: the same every time
  std::set<int> all;
  int next = 0;
  while (next < kMembers || answered().size() < kMembers) {
    if (next < kMembers && random() % 2 == 0) {
      const int first = next;
      next = std::min(kMembers, next + 1 + static_cast<int>(random() % 5));
      std::vector<int> numbers;
      for (int i = first; i < next; ++i) numbers.push_back(i);
      all.insert(numbers.begin(), numbers.end());
      arrive(numbers, random() % 2);
      continue;
    }
    const int member = static_cast<int>(random() % kMembers);
    if (!batches_.isUnderWay(member)) continue;
    EXPECT_FALSE(answered().contains(member));
    batches_.acknowledge(member, other_.at());
  }
  EXPECT_TRUE(isAnswered(all));
  EXPECT_EQ(batches_.counts().members(), static_cast<std::uint64_t>(kMembers));
}

}  // namespace festa::test
