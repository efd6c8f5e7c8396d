#include "lock/drogon/lock_middleware.h"

#include "lock/drogon/next_answer.h"
#include "lock/memory/memory_lock_storage.h"
#include "tests/support/lock/middleware.h"

namespace festa::test {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
using lock::LockOutcome;
using lock::Millis;

class LockMiddlewareTest : public WithMiddleware<LoopFixture> {
 protected:
  LockMiddlewareTest() { storage_ = memory_; }

  static drogon::Task<trantor::EventLoop*> loopAfter(
      std::shared_ptr<lock::LockMiddleware> middleware, Handler handler) {
    const auto request = requestFor("1");
    co_await middleware->serve(request, nextOf(handler, request));
    co_return trantor::EventLoop::getEventLoopOfCurrentThread();
  }

  // No request holds the key or has a place on the board any more.
  void expectAllGivenBack() {
    EXPECT_TRUE(board_->rows(10).empty());
    const auto next = runOn(timers_.at(), [this] {
      return memory_->tryLock({.key = "k:1", .wait = Millis{0}, .lease = Millis{30'000}});
    });
    ASSERT_TRUE(next) << "the key is still taken";
    runOn(timers_.at(), [&] { return memory_->unlock(next->clone()); });
  }

  const std::shared_ptr<lock::MemoryLockStorage> memory_ =
      lock::MemoryLockStorage::create(1, timers_.at());
};

drogon::Task<HttpResponsePtr> throwNumber(HttpRequestPtr) {
  throw 42;
  co_return nullptr;
}

drogon::Task<HttpResponsePtr> throwNumberLater(HttpRequestPtr) {
  co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.001);
  throw 42;
}

drogon::Task<HttpResponsePtr> answerNothing(HttpRequestPtr) {
  co_return nullptr;
}

}  // namespace

TEST_F(LockMiddlewareTest, AHandlerThatFailsStillGivesTheKeyBack) {
  const Handler failing = [](HttpRequestPtr) -> drogon::Task<HttpResponsePtr> {
    throw std::runtime_error("oops");
    co_return nullptr;
  };
  const auto middleware = make(lockable_);
  EXPECT_EQ(finish(start(middleware, failing))->statusCode(), drogon::k500InternalServerError);
  EXPECT_EQ(finish(start(middleware, ok))->statusCode(), drogon::k200OK);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased, LockOutcome::kReleased}));
}

// Drogon drops the callback of such a handler.
TEST_F(LockMiddlewareTest, AHandlerThatThrowsWhatIsNoExceptionGivesTheKeyBack) {
  const auto middleware = make(lockable_);
  for (const auto& handler : {Handler(throwNumber), Handler(throwNumberLater)}) {
    EXPECT_THROW(finish(start(middleware, handler)), lock::NoAnswer);
    expectAllGivenBack();
  }
  EXPECT_EQ(recorder_->outcomes().at(0), LockOutcome::kReleased);
}

TEST_F(LockMiddlewareTest, AHandlerThatAnswersNothingGivesTheKeyBack) {
  EXPECT_THROW(finish(start(make(lockable_), answerNothing)), lock::NoAnswer);
  expectAllGivenBack();
}

// A middleware without a coroutine, below this one.
TEST_F(LockMiddlewareTest, WhatTheNextMiddlewareThrowsIsPassedOnAfterTheKeyIsBack) {
  const auto middleware = make(lockable_);
  const drogon::MiddlewareNextCallback failing = [](auto&&) { throw 42; };
  EXPECT_THROW(runOn(loops_.at(), [&] { return middleware->serve(requestFor("1"), failing); }),
               int);
  expectAllGivenBack();
}

TEST_F(LockMiddlewareTest, DroppedCallbacksAreAnsweredByTheExceptionHandler) {
  const auto middleware = make(lockable_);
  std::promise<HttpResponsePtr> answered;
  loops_.at()->queueInLoop([&] {
    const auto request = requestFor("1");
    middleware->invoke(request, nextOf(throwNumberLater, request),
                       [&](const HttpResponsePtr& response) { answered.set_value(response); });
  });
  EXPECT_EQ(finish(answered.get_future())->statusCode(), drogon::k500InternalServerError);
  expectAllGivenBack();
}

TEST_F(LockMiddlewareTest, AnUnknownCommitLeavesTheKeyToItsLease) {
  const Handler unknown = [](HttpRequestPtr request) {
    lock::holdOf(request)->leaveToExpire();
    return ok(request);
  };
  auto lockable = lockable_;
  lockable.lease = Millis{300};
  lockable.wait = Millis{5000};
  const auto middleware = make(lockable);
  const auto started = lock::SteadyClock::now();
  finish(start(middleware, unknown));
  EXPECT_EQ(finish(start(middleware, ok))->statusCode(), drogon::k200OK);
  EXPECT_GE(lock::SteadyClock::now() - started, lockable.lease)
      << "the key was free before the lease ended";
  EXPECT_EQ(recorder_->outcomes(),
            (std::vector{LockOutcome::kLeftToExpire, LockOutcome::kReleased}));
}

TEST_F(LockMiddlewareTest, AFailFastLockSaysBusyAtOnce) {
  auto lockable = lockable_;
  lockable.failFast = true;
  const auto middleware = make(lockable);
  std::promise<void> held;
  std::promise<void> goOn;
  auto released = goOn.get_future().share();
  const Handler slow = [&](HttpRequestPtr request) -> drogon::Task<HttpResponsePtr> {
    held.set_value();
    while (released.wait_for(Millis{0}) != std::future_status::ready)
      co_await drogon::sleepCoro(loops_.at(), 0.002);
    co_return co_await ok(request);
  };
  auto first = start(middleware, slow);
  held.get_future().wait();
  EXPECT_EQ(finish(start(middleware, ok))->statusCode(), drogon::k503ServiceUnavailable);
  EXPECT_EQ(finish(start(middleware, ok, "another key"))->statusCode(), drogon::k200OK);
  EXPECT_EQ(refused_, (std::vector{LockOutcome::kBusy}));
  goOn.set_value();
  finish(std::move(first));
}

TEST_F(LockMiddlewareTest, BeyondTheLimitOfHoldersOneIsRefusedWithoutALock) {
  board_ = std::make_shared<lock::LockBoard>(0);
  finish(start(make(lockable_), ok));
  EXPECT_EQ(refused_, (std::vector{LockOutcome::kOverloaded}));
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kOverloaded}));
}

TEST_F(LockMiddlewareTest, TheBoardShowsTheHolderWhileItHoldsAndNoneAfterwards) {
  std::vector<lock::LockBoard::Row> rows;
  const Handler look = [&](HttpRequestPtr request) {
    rows = board_->rows(10);
    return ok(request);
  };
  finish(start(make(lockable_), look));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].holds);
  EXPECT_EQ(rows[0].lockable, "test");
  EXPECT_EQ(rows[0].strategy, "memory");
  EXPECT_EQ(rows[0].key, "k:1");
  EXPECT_GT(rows[0].fence, 0);
  EXPECT_TRUE(board_->rows(10).empty());
}

TEST_F(LockMiddlewareTest, AClosedStorageRefuses) {
  storage_->close();
  finish(start(make(lockable_), ok));
  EXPECT_EQ(refused_, (std::vector{LockOutcome::kClosed}));
}

TEST_F(LockMiddlewareTest, AMissingKeyVariableIsTheCallersFault) {
  EXPECT_THROW(finish(start(make(lockable_), ok, "")), lock::MissingKeyVariable);
}

TEST_F(LockMiddlewareTest, AnUnknownVariableInTheKeyIsFoundWhenItIsMade) {
  EXPECT_THROW(make({.name = "bad", .key = "k:{path.nope}"}), lock::KeyTemplateError);
}

namespace {

// Answers from another loop's thread, as a client with threads of its own does.
drogon::Task<HttpResponsePtr> answerFrom(trantor::EventLoop* loop, int* inside) {
  EXPECT_EQ(++*inside, 1);  // guarded by the lock under test
  co_await drogon::switchThreadCoro(loop);
  --*inside;
  co_return drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
}

}  // namespace

TEST_F(LockMiddlewareTest, HandlersThatAnswerFromOtherThreadsStayApart) {
  constexpr int kRequests = 200;
  const Loops loops(3);
  const auto middleware = make(lockable_);
  int inside = 0;
  std::vector<std::future<trantor::EventLoop*>> ends;
  for (int i = 0; i < kRequests; ++i) {
    auto* const own = loops.at(static_cast<std::size_t>(i) % loops.size());
    auto* const other = loops.at(static_cast<std::size_t>(i + 1) % loops.size());
    const Handler handler = [other, &inside](HttpRequestPtr) { return answerFrom(other, &inside); };
    ends.push_back(startOn(own, [=]() { return loopAfter(middleware, handler); }));
  }
  for (int i = 0; i < kRequests; ++i)
    EXPECT_EQ(finish(std::move(ends[static_cast<std::size_t>(i)])),
              loops.at(static_cast<std::size_t>(i) % loops.size()));
  EXPECT_EQ(inside, 0);
  expectAllGivenBack();
}

}  // namespace festa::test
