// Writes inside a lock middleware: what is stored while, after and without the hold.
#include "controllers/http/protection.h"
#include "lock/memory/memory_lock_storage.h"
#include "services/write/transaction.h"
#include "tests/services/middleware_fixture.h"
#include "tests/support/lock/paced_storage.h"
#include "tests/support/test_guard.h"

namespace festa::test {

namespace {

using lock::LockOutcome;
using lock::Millis;
using lock::RenewalOutcome;
using lock::SteadyClock;

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
    return inner_->unlock(std::move(lease));
  }
  void close() override { inner_->close(); }

  std::atomic<int> unlocks{0};

 private:
  const std::shared_ptr<lock::LockStorage> inner_;
  const std::function<void()> onUnlock_;
};

class HeldWrite : public MiddlewareFixture {
 protected:
  HeldWrite() {
    session_.run("CREATE TABLE t (n int)");
    session_.run(
        "INSERT INTO festivals (university_name, festival_name, start_date, end_date)"
        " VALUES ('U', 'F', now(), now())");
    storage_ = paced_;
  }

  lock::Lockable lasting(Millis lease, Millis maxHold) const {
    auto lockable = lockable_;
    lockable.lease = lease;
    lockable.maxHold = maxHold;
    return lockable;
  }

  // Writes a row under the request's guard and stands before COMMIT until the condition is true.
  // 200, or the refusal in the body.
  Handler writeWhen(std::function<bool()> condition) {
    return [this, condition = std::move(condition)](HttpRequestPtr request) {
      return write(request, condition);
    };
  }
  drogon::Task<HttpResponsePtr> write(HttpRequestPtr request, std::function<bool()> condition) {
    const auto hold = lock::holdOf(request);
    HeldLock held(*hold);
    auto guard = guardFor({}, *hold, held);
    TestWrites writes;
    writes.testPoint = [condition] { return waitFor(condition); };
    guard.observer = &writes;
    const NewAnnouncement pinned{"title", "content", true};
    auto response = drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
    try {
      co_await service_.create(1, pinned, guard);
    } catch (const ServiceError& error) {
      response->setStatusCode(drogon::k503ServiceUnavailable);
      response->setBody(error.code() == ErrorCode::kLockLost ? "lost" : "other");
    }
    co_return response;
  }

  // Another request has got the key: for good, if it is free.
  bool isTakenOver() {
    if (!successor_)
      successor_ = runOn(timers_.at(), [this] {
        return memory_->tryLock({.key = "k:1", .wait = Millis{0}, .lease = Millis{30'000}});
      });
    return successor_.has_value();
  }

  long renewals(RenewalOutcome outcome) const { return recorder_->renewals(outcome); }
  void expectNothingStored(const HttpResponsePtr& response) {
    EXPECT_EQ(response->statusCode(), drogon::k503ServiceUnavailable);
    EXPECT_EQ(response->body(), "lost");
    EXPECT_EQ(one("SELECT count(*) FROM announcements"), "0");
    EXPECT_EQ(one("SELECT fence FROM festivals WHERE id = 1"), "0");
  }

  const std::shared_ptr<lock::MemoryLockStorage> memory_ =
      lock::MemoryLockStorage::create(1, timers_.at());
  const std::shared_ptr<PacedStorage> paced_ = std::make_shared<PacedStorage>(memory_);
  const AnnouncementService service_{testDatabase(db_)};
  std::optional<lock::Lease> successor_;
};

}  // namespace

TEST_F(HeldWrite, AtTheMomentOfReleaseTheRowIsVisibleToAnotherConnection) {
  int expected = 0;
  int invisible = 0;
  const auto watched = std::make_shared<WatchedStorage>(memory_, [&] {
    if (one("SELECT count(*) FROM t") != std::to_string(expected)) ++invisible;
  });
  storage_ = watched;
  auto* const db = &db_;
  const Handler insert = [db](HttpRequestPtr) -> drogon::Task<HttpResponsePtr> {
    auto body = [](Sql& sql) { return insertRow(sql); };
    const TransactionOptions options;
    co_await inTransaction(*db, options, body);
    co_return drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
  };
  const auto middleware = make(lockable_);
  for (expected = 1; expected <= 300; ++expected) finish(start(middleware, insert));
  EXPECT_EQ(watched->unlocks, 300);
  EXPECT_EQ(invisible, 0);
}

TEST_F(HeldWrite, AHandlerLongerThanItsLeaseCommitsWhileItIsRenewed) {
  const auto started = SteadyClock::now();
  auto answer = start(make(lasting(Millis{3000}, Millis{60'000})), writeWhen([this, started] {
                        return renewals(RenewalOutcome::kRenewed) >= 3 &&
                               SteadyClock::now() > started + Millis{3300};
                      }));
  EXPECT_EQ(finish(std::move(answer))->statusCode(), drogon::k200OK);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
  EXPECT_EQ(one("SELECT count(*) FROM announcements"), "1");
}

TEST_F(HeldWrite, AHandlerThatHasLostItsKeyCannotCommit) {
  auto answer =
      start(make(lasting(Millis{100}, Millis{0})), writeWhen([this] { return isTakenOver(); }));
  expectNothingStored(finish(std::move(answer)));
}

TEST_F(HeldWrite, ALostRenewalRefusesTheCommit) {
  paced_->saysLost = true;
  auto answer = start(make(lasting(Millis{3000}, Millis{60'000})),
                      writeWhen([this] { return renewals(RenewalOutcome::kLost) == 1; }));
  expectNothingStored(finish(std::move(answer)));
}

TEST_F(HeldWrite, TheEndOfTheLongestHoldRefusesTheCommit) {
  auto answer =
      start(make(lasting(Millis{3000}, Millis{4500})), writeWhen([this] { return isTakenOver(); }));
  expectNothingStored(finish(std::move(answer)));
  EXPECT_GE(renewals(RenewalOutcome::kRenewed), 1);
}

}  // namespace festa::test
