#include "services/queue/local_queue.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

namespace festa::test {

namespace {

using queue::Admission;
using queue::LocalQueue;
using queue::QueueEntry;

struct Counting : queue::QueueObserver {
  void admitted(Duration) override { ++admissions; }
  void worked(Duration) override { ++done; }
  void redelivered() override { ++again; }
  void deadLettered() override { ++dead; }

  std::atomic<int> admissions{0};
  std::atomic<int> done{0};
  std::atomic<int> again{0};
  std::atomic<int> dead{0};
};

class LocalQueueTest : public testing::Test {
 protected:
  std::shared_ptr<LocalQueue> make(std::size_t workers, int deliveryLimit = 5) {
    return LocalQueue::create({workers, deliveryLimit}, *observer_);
  }
  void publish(const std::shared_ptr<LocalQueue>& queue, QueueEntry entry) {
    runOn(loops_.at(1), [queue, entry] { return queue->publish(entry); });
  }

  // Handlers that write down what they were called for.
  drogon::Task<Admission> admit(QueueEntry entry) {
    const std::lock_guard guard(mutex_);
    admitted_.push_back(entry);
    co_return entry % 10 == 0 ? Admission::kOver : Admission::kWork;
  }
  drogon::Task<> work(QueueEntry) {
    mostAtOnce_ = std::max<int>(mostAtOnce_, ++atOnce_);
    co_await drogon::sleepCoro(loops_.at(), 0.005);
    --atOnce_;
  }
  drogon::Task<> fail(QueueEntry) {
    // Handlers may throw anything.
    if (++failures_ % 2 == 1) throw 42;
    throw std::runtime_error("on purpose");
    co_return;
  }
  drogon::Task<> giveUp(QueueEntry entry) {
    const std::lock_guard guard(mutex_);
    givenUp_.push_back(entry);
    co_return;
  }
  // What a test wants to happen instead is set in the fixture.
  class Handlers : public queue::EntryHandlers {
   public:
    explicit Handlers(LocalQueueTest& test) : test_(test) {}
    drogon::Task<Admission> admit(QueueEntry entry) override {
      return test_.admitBy_ ? test_.admitBy_(entry) : test_.admit(entry);
    }
    drogon::Task<> work(QueueEntry entry) override {
      return test_.workBy_ ? test_.workBy_(entry) : test_.work(entry);
    }
    drogon::Task<> giveUp(QueueEntry entry) override { return test_.giveUp(entry); }

   private:
    LocalQueueTest& test_;
  };
  void start(const std::shared_ptr<LocalQueue>& queue) { queue->start(handlers_, loops_.at()); }

  Handlers handlers_{*this};
  std::function<drogon::Task<Admission>(QueueEntry)> admitBy_;
  std::function<drogon::Task<>(QueueEntry)> workBy_;
  Loops loops_{2};
  const std::shared_ptr<Counting> observer_ = std::make_shared<Counting>();
  std::mutex mutex_;
  std::vector<QueueEntry> admitted_;  // guarded by mutex_
  std::vector<QueueEntry> givenUp_;   // guarded by mutex_
  int atOnce_ = 0;                    // on the loop
  std::atomic<int> mostAtOnce_{0};
  std::atomic<int> failures_{0};
};

}  // namespace

TEST_F(LocalQueueTest, AdmitsInOrderAndWorksInParallel) {
  const auto queue = make(4);
  EXPECT_FALSE(queue->isAvailable());
  std::vector<QueueEntry> published;
  const auto publishUpTo = [&](QueueEntry last) {
    while (std::ssize(published) < last) {
      published.push_back(std::ssize(published) + 1);
      publish(queue, published.back());
    }
  };
  // Enough for all workers, however slowly the others come.
  publishUpTo(50);
  start(queue);
  EXPECT_TRUE(queue->isAvailable());
  publishUpTo(100);
  EXPECT_TRUE(eventually([&] { return observer_->done == 90; }));
  const std::lock_guard guard(mutex_);
  EXPECT_EQ(admitted_, published);
  EXPECT_EQ(observer_->admissions, 90) << "those that go on to work";
  EXPECT_EQ(mostAtOnce_, 4);
  queue->stop();
}

TEST_F(LocalQueueTest, WhatCameBeforeTheStartIsNotLost) {
  const auto queue = make(1);
  publish(queue, 1);
  EXPECT_EQ(queue->counts().waiting, 1);
  start(queue);
  EXPECT_TRUE(eventually([&] { return observer_->done == 1; }));
  queue->stop();
}

TEST_F(LocalQueueTest, AnEntryThatCannotBeAdmittedKeepsItsPlace) {
  const auto queue = make(1);
  std::atomic<int> attempts{0};
  admitBy_ = [&](QueueEntry entry) -> drogon::Task<Admission> {
    const int attempt = entry == 1 ? ++attempts : 4;
    if (attempt == 1) throw 42;  // handlers may throw anything
    if (attempt < 4) throw std::runtime_error("the database is away");
    co_return co_await admit(entry);
  };
  start(queue);
  publish(queue, 1);
  publish(queue, 2);
  EXPECT_TRUE(eventually([&] { return observer_->done == 2; }));
  const std::lock_guard guard(mutex_);
  EXPECT_EQ(admitted_, (std::vector<QueueEntry>{1, 2}));
  EXPECT_EQ(attempts, 4);
  queue->stop();
}

TEST_F(LocalQueueTest, WorkThatFailsComesAgainUpToTheLimitAndIsGivenUp) {
  const auto queue = make(2, 3);
  workBy_ = [this](QueueEntry entry) { return fail(entry); };
  start(queue);
  publish(queue, 7);
  EXPECT_TRUE(eventually([&] { return observer_->dead == 1; }));
  EXPECT_EQ(failures_, 3);
  EXPECT_EQ(observer_->again, 2);
  const std::lock_guard guard(mutex_);
  EXPECT_EQ(givenUp_, std::vector<QueueEntry>{7});
  queue->stop();
}

TEST_F(LocalQueueTest, AfterItsStopNothingIsTakenAndWhatIsInHandIsFinished) {
  const auto queue = make(1);
  start(queue);
  publish(queue, 1);
  EXPECT_TRUE(eventually([&] { return queue->counts().inWork == 1 || observer_->done == 1; }));
  queue->stop();
  EXPECT_EQ(observer_->done, 1);
  EXPECT_FALSE(queue->isAvailable());
  EXPECT_THROW(publish(queue, 2), queue::QueueUnavailable);
}

}  // namespace festa::test
