#include "lock/lock_middleware.h"

#include "lock/memory_lock_storage.h"
#include "services/transaction.h"
#include "tests/services/middleware_fixture.h"

namespace festa::test {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
using lock::LockOutcome;
using lock::Millis;

drogon::Task<int> insertRow(Sql& sql) {
  co_await sql.execSqlCoro("INSERT INTO t (n) VALUES (1)");
  co_return 1;
}

// Passes everything on to a storage and runs a check at the moment of each release.
class WatchedStorage : public lock::LockStorage {
 public:
  WatchedStorage(std::shared_ptr<lock::LockStorage> inner, std::function<void()> onUnlock)
      : inner_(std::move(inner)), onUnlock_(std::move(onUnlock)) {}

  drogon::Task<std::optional<lock::Lease>> tryLock(lock::LockRequest request) override {
    return inner_->tryLock(request);
  }
  drogon::Task<bool> extend(lock::Lease& lease, lock::Extension extension) override {
    return inner_->extend(lease, extension);
  }
  drogon::Task<lock::Unlocked> unlock(lock::Lease lease) override {
    ++unlocks;
    onUnlock_();
    return inner_->unlock(lease);
  }
  void close() override { inner_->close(); }

  std::atomic<int> unlocks{0};

 private:
  const std::shared_ptr<lock::LockStorage> inner_;
  const std::function<void()> onUnlock_;
};

class LockMiddlewareTest : public MiddlewareFixture {
 protected:
  LockMiddlewareTest() {
    session_.run("CREATE TABLE t (n int)");
    storage_ = watched_;
  }

  std::function<void()> atUnlock_ = [] {};
  const std::shared_ptr<WatchedStorage> watched_ = std::make_shared<WatchedStorage>(
      lock::MemoryLockStorage::create(1, timers_.at()), [this] { atUnlock_(); });
};

}  // namespace

TEST_F(LockMiddlewareTest, AtTheMomentOfReleaseTheRowIsVisibleToAnotherConnection) {
  int expected = 0;
  int invisible = 0;
  atUnlock_ = [&] {
    if (one("SELECT count(*) FROM t") != std::to_string(expected)) ++invisible;
  };
  auto* const db = &db_;
  const Handler insert = [db](HttpRequestPtr) -> drogon::Task<HttpResponsePtr> {
    auto body = [](Sql& sql) { return insertRow(sql); };
    const TransactionOptions options;
    co_await inTransaction(*db, options, body);
    co_return drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
  };
  const auto middleware = make(lockable_);
  for (expected = 1; expected <= 300; ++expected) finish(start(middleware, insert));
  EXPECT_EQ(watched_->unlocks, 300);
  EXPECT_EQ(invisible, 0);
}

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

TEST_F(LockMiddlewareTest, AnUnknownCommitLeavesTheKeyToItsLease) {
  const Handler unknown = [](HttpRequestPtr request) {
    lock::holdOf(request)->leaveToExpire();
    return ok(request);
  };
  auto lockable = lockable_;
  lockable.lease = Millis{80};
  lockable.wait = Millis{5000};
  const auto middleware = make(lockable);
  finish(start(middleware, unknown));
  EXPECT_EQ(watched_->unlocks, 0);
  const auto started = lock::SteadyClock::now();
  EXPECT_EQ(finish(start(middleware, ok))->statusCode(), drogon::k200OK);
  EXPECT_GT(lock::SteadyClock::now() - started, Millis{40})
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
  EXPECT_EQ(watched_->unlocks, 0);
}

TEST_F(LockMiddlewareTest, TheBoardShowsTheHolderWhileItHoldsAndNobodyAfterwards) {
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

}  // namespace festa::test
