#include "lock/lock_middleware.h"

#include "lock/memory_lock_storage.h"
#include "services/transaction.h"
#include "tests/services/database_fixture.h"

#include <drogon/HttpAppFramework.h>

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

struct Recorder : lock::LockObserver {
  void finished(const HttpRequestPtr&, const lock::LockRecord& record) override {
    outcomes.push_back(record.outcome);
  }
  std::vector<LockOutcome> outcomes;
};

class LockMiddlewareTest : public DatabaseFixture {
 protected:
  LockMiddlewareTest() { session_.run("CREATE TABLE t (n int)"); }

  using Handler = std::function<drogon::Task<HttpResponsePtr>(HttpRequestPtr)>;

  std::shared_ptr<lock::LockMiddleware> make(lock::Lockable lockable) {
    lock::LockMiddlewareContext context;
    context.variable = [](const HttpRequestPtr& request, std::string_view) {
      return std::optional<std::string>(request->getParameter("id"));
    };
    context.plan = [this](const HttpRequestPtr&, const lock::Lockable&) {
      return lock::Plan{{"watched", storage_}, true};
    };
    context.refuse = [this](const HttpRequestPtr&, LockOutcome outcome, const lock::Lockable&) {
      refused_.push_back(outcome);
      return drogon::HttpResponse::newHttpResponse(drogon::k503ServiceUnavailable, drogon::CT_NONE);
    };
    context.observer = recorder_;
    context.holders = holders_;
    return std::make_shared<lock::LockMiddleware>(std::move(lockable),
                                                  std::set<std::string>{"path.id"}, context);
  }

  // What Drogon does around a handler: its coroutine ends in a response, which is passed back up.
  static drogon::MiddlewareNextCallback nextOf(const Handler& handler,
                                               const HttpRequestPtr& request) {
    return [handler, request](std::function<void(const HttpResponsePtr&)>&& back) {
      auto answer = std::make_shared<std::function<void(const HttpResponsePtr&)>>(std::move(back));
      runHandler(handler, request, answer);
    };
  }

  static drogon::AsyncTask runHandler(
      Handler handler, HttpRequestPtr request,
      std::shared_ptr<std::function<void(const HttpResponsePtr&)>> answer) {
    HttpResponsePtr response;
    try {
      response = co_await handler(request);
    } catch (const std::exception&) {
      response =
          drogon::HttpResponse::newHttpResponse(drogon::k500InternalServerError, drogon::CT_NONE);
    }
    (*answer)(response);
  }

  static drogon::Task<HttpResponsePtr> pass(std::shared_ptr<lock::LockMiddleware> middleware,
                                            Handler handler, HttpRequestPtr request) {
    drogon::MiddlewareNextAwaiter next(nextOf(handler, request));
    co_return co_await middleware->invoke(request, std::move(next));
  }

  std::future<HttpResponsePtr> start(const std::shared_ptr<lock::LockMiddleware>& middleware,
                                     const Handler& handler, const std::string& id = "1") {
    auto request = drogon::HttpRequest::newHttpRequest();
    request->setParameter("id", id);
    return startOn(loops_.at(),
                   [middleware, handler, request] { return pass(middleware, handler, request); });
  }

  static drogon::Task<HttpResponsePtr> ok(HttpRequestPtr) {
    co_return drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
  }

  std::function<void()> atUnlock_ = [] {};
  Loops timers_;
  std::shared_ptr<WatchedStorage> storage_ = std::make_shared<WatchedStorage>(
      lock::MemoryLockStorage::create(1, timers_.at()), [this] { atUnlock_(); });
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  std::shared_ptr<lock::HoldersGauge> holders_ = std::make_shared<lock::HoldersGauge>(100);
  std::vector<LockOutcome> refused_;
  const lock::Lockable lockable_{.name = "test", .key = "k:{path.id}"};
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
  EXPECT_EQ(storage_->unlocks, 300);
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
  EXPECT_EQ(recorder_->outcomes, (std::vector{LockOutcome::kReleased, LockOutcome::kReleased}));
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
  EXPECT_EQ(storage_->unlocks, 0);
  const auto started = lock::SteadyClock::now();
  EXPECT_EQ(finish(start(middleware, ok))->statusCode(), drogon::k200OK);
  EXPECT_GT(lock::SteadyClock::now() - started, Millis{40})
      << "the key was free before the lease ended";
  EXPECT_EQ(recorder_->outcomes, (std::vector{LockOutcome::kLeftToExpire, LockOutcome::kReleased}));
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
  holders_ = std::make_shared<lock::HoldersGauge>(0);
  finish(start(make(lockable_), ok));
  EXPECT_EQ(refused_, (std::vector{LockOutcome::kOverloaded}));
  EXPECT_EQ(storage_->unlocks, 0);
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
