#include "services/write/transaction.h"

#include "services/error.h"
#include "tests/services/database_fixture.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/test_guard.h"

#include <atomic>

namespace festa::test {

namespace {

drogon::Task<int> insertRow(Sql& sql, int n) {
  co_await sql.execSqlCoro("INSERT INTO t (n) VALUES ($1)", static_cast<std::int32_t>(n));
  co_return n;
}

drogon::Task<int> insertThenThrow(Sql& sql, std::exception_ptr error) {
  co_await insertRow(sql, 1);
  std::rethrow_exception(error);
}

drogon::Task<int> insertThenFail(Sql& sql) {
  co_await insertRow(sql, 1);
  co_await sql.execSqlCoro("SELECT 1 / (n - 1) FROM t");
  co_return 1;
}

drogon::Task<int> insertThenHideAFailure(Sql& sql) {
  try {
    co_await insertThenFail(sql);
  } catch (const drogon::orm::DrogonDbException&) {
    // Drogon has rolled the transaction back.
  }
  co_return 1;
}

class TransactionTest : public DatabaseFixture {
 protected:
  TransactionTest() { session_.run("CREATE TABLE t (n int)"); }

  std::string rows() { return one("SELECT count(*) FROM t"); }

  template <class Body>
  int transact(const drogon::orm::DbClientPtr& db, const TransactionOptions& options, Body& body) {
    return run([&] { return inTransaction(db, options, body); });
  }
};

}  // namespace

TEST_F(TransactionTest, ReturnsTheBodysValueWhenItsRowIsVisibleToOthers) {
  TestOptions options;
  for (int i = 1; i <= 200; ++i) {
    auto body = [i](Sql& sql) { return insertRow(sql, i); };
    ASSERT_EQ(transact(db_, options, body), i);
    ASSERT_EQ(rows(), std::to_string(i));
  }
}

TEST_F(TransactionTest, ABusinessErrorAfterTheInsertLeavesNoRow) {
  TestOptions options;
  const auto error = std::make_exception_ptr(ServiceError(ErrorCode::kPinnedLimitExceeded));
  auto body = [&](Sql& sql) { return insertThenThrow(sql, error); };
  EXPECT_THROW(transact(db_, options, body), ServiceError);
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, AnyExceptionAfterTheInsertLeavesNoRow) {
  TestOptions options;
  const auto standard = std::make_exception_ptr(std::runtime_error("oops"));
  const auto odd = std::make_exception_ptr(42);
  auto first = [&](Sql& sql) { return insertThenThrow(sql, standard); };
  auto second = [&](Sql& sql) { return insertThenThrow(sql, odd); };
  EXPECT_THROW(transact(db_, options, first), std::runtime_error);
  EXPECT_THROW(transact(db_, options, second), int);
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, AFailingStatementLeavesNoRow) {
  TestOptions options;
  auto body = [](Sql& sql) { return insertThenFail(sql); };
  EXPECT_THROW(transact(db_, options, body), drogon::orm::DrogonDbException);
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, AFailureThatItsBodyHidesIsNotReportedAsSuccess) {
  TestOptions options;
  auto body = [](Sql& sql) { return insertThenHideAFailure(sql); };
  EXPECT_THROW(transact(db_, options, body), ServiceError);
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, ARefusedCommitIsNotReportedAsSuccess) {
  session_.run(
      "CREATE TABLE parent (id int PRIMARY KEY);"
      "ALTER TABLE t ADD FOREIGN KEY (n) REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED");
  TestOptions options;
  auto body = [](Sql& sql) { return insertRow(sql, 1); };
  EXPECT_THROW(transact(db_, options, body), CommitUnknown);
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, PastTheDeadlineNothingIsBegun) {
  TestOptions options;
  options.notAfter = until(std::chrono::steady_clock::now());
  bool ran = false;
  auto body = [&](Sql& sql) {
    ran = true;
    return insertRow(sql, 1);
  };
  EXPECT_THROW(transact(db_, options, body), ServiceError);
  EXPECT_FALSE(ran);
}

TEST_F(TransactionTest, ADeadlinePassedDuringTheBodyPreventsTheCommit) {
  TestOptions options;
  options.notAfter = until(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
  options.beforeCommit = []() -> drogon::Task<> {
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.15);
  };
  auto body = [](Sql& sql) { return insertRow(sql, 1); };
  try {
    transact(db_, options, body);
    ADD_FAILURE() << "committed past the deadline";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kLockLost);
  }
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, AConnectionLostBeforeCommitIsNotReportedAsSuccess) {
  TestOptions options;
  options.beforeCommit = [this]() -> drogon::Task<> {
    endOpenTransactions();
    co_return;
  };
  auto body = [](Sql& sql) { return insertRow(sql, 1); };
  EXPECT_THROW(transact(db_, options, body), CommitUnknown);
  EXPECT_EQ(rows(), "0");
}

TEST_F(TransactionTest, ACommitWhoseReplyIsLostIsUnknownAlthoughItHappened) {
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto db = connect(where, 1);
  TestOptions options;
  options.beforeCommit = [&proxy]() -> drogon::Task<> {
    proxy.swallowReplies();
    co_return;
  };
  auto body = [](Sql& sql) { return insertRow(sql, 1); };
  auto outcome = startOn(loops_.at(), [&] { return inTransaction(db, options, body); });
  ASSERT_TRUE(eventually([&] { return proxy.swallowed() > 0; }));
  proxy.cut();
  EXPECT_THROW(finish(std::move(outcome)), CommitUnknown);
  EXPECT_EQ(rows(), "1") << "the test wanted a COMMIT that happened";
}

TEST_F(TransactionTest, ACommitThatIsNeverAnsweredEndsWithTheTimeOut) {
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto db = connect(where, 1);
  TestOptions options;
  options.commitTimeout = std::chrono::milliseconds(100);
  options.beforeCommit = [&proxy]() -> drogon::Task<> {
    proxy.swallowReplies();
    co_return;
  };
  auto body = [](Sql& sql) { return insertRow(sql, 1); };
  EXPECT_THROW(transact(db, options, body), CommitUnknown);
}

TEST_F(TransactionTest, WithoutAConnectionItThrowsDatabaseUnavailable) {
  auto nowhere = where_;
  nowhere.port = freePort();
  const auto db = connect(nowhere, 1);
  db->setTimeout(0.2);
  TestOptions options;
  auto body = [](Sql& sql) { return insertRow(sql, 1); };
  try {
    transact(db, options, body);
    ADD_FAILURE() << "there is no such server";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDatabaseUnavailable);
  }
}

TEST_F(TransactionTest, TheConnectionIsUsableAfterEveryOutcome) {
  const auto db = connect(where_, 1);
  TestOptions options;
  const auto error = std::make_exception_ptr(std::runtime_error("oops"));
  auto throwing = [&](Sql& sql) { return insertThenThrow(sql, error); };
  auto failing = [](Sql& sql) { return insertThenFail(sql); };
  auto good = [](Sql& sql) { return insertRow(sql, 7); };
  for (int i = 1; i <= 20; ++i) {
    EXPECT_THROW(transact(db, options, throwing), std::runtime_error);
    EXPECT_THROW(transact(db, options, failing), drogon::orm::DrogonDbException);
    EXPECT_EQ(transact(db, options, good), 7);
    EXPECT_EQ(rows(), std::to_string(i));
    session_.run("UPDATE t SET n = 1");
  }
}

// A transaction that Drogon keeps for ever takes some kilobytes.
class LostTransactionTest : public TransactionTest {
 protected:
  // The connection ends while a statement is under way.
  drogon::Task<int> loseStatement(bool begins) {
    std::shared_ptr<Sql> sql;
    if (begins)
      sql = co_await beginTransaction(db_, options_);
    else
      sql = co_await takeConnection(db_, options_);
    lost_ = sql;
    co_await expectFailure(*sql, "SELECT pg_sleep(60)");
    sql->rollback();
    co_return 0;
  }
  // The connection ends between two statements.
  drogon::Task<int> loseIdle() {
    auto sql = co_await beginTransaction(db_, options_);
    lost_ = sql;
    co_await sql->execSqlCoro("SELECT 1");
    isIdle_ = true;
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    while (sql->hasAvailableConnections()) co_await drogon::sleepCoro(loop, 0.002);
    co_await expectFailure(*sql, "SELECT 1");
    sql->rollback();
    co_return 0;
  }
  static drogon::Task<> expectFailure(Sql& sql, std::string statement) {
    try {
      co_await sql.execSqlCoro(statement);
      ADD_FAILURE() << "the session was not ended";
    } catch (const drogon::orm::DrogonDbException&) {
    }
  }
  void endSleepers() {
    EXPECT_TRUE(eventually([&] {
      return session_
                 .query(
                     "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active'"
                     " AND query = 'SELECT pg_sleep(60)' AND datname = current_database()")
                 .size() == 1;
    }));
  }
  bool isForgotten() {
    return eventually([&] { return lost_.expired(); }, std::chrono::seconds(5));
  }

  const TransactionOptions options_;
  std::weak_ptr<Sql> lost_;
  std::atomic<bool> isIdle_{false};  // its connection stands between two statements
};

TEST_F(LostTransactionTest, IsForgottenWhenAStatementWasUnderWay) {
  auto lost = startOn(loops_.at(), [this] { return loseStatement(true); });
  endSleepers();
  finish(std::move(lost));
  EXPECT_TRUE(isForgotten());
}

TEST_F(LostTransactionTest, IsForgottenWhenAStatementOfItsOwnWasUnderWay) {
  auto lost = startOn(loops_.at(), [this] { return loseStatement(false); });
  endSleepers();
  finish(std::move(lost));
  EXPECT_TRUE(isForgotten());
}

TEST_F(LostTransactionTest, IsForgottenWhenNoStatementWasUnderWay) {
  auto lost = startOn(loops_.at(), [this] { return loseIdle(); });
  EXPECT_TRUE(eventually([&] { return isIdle_.load(); }));
  endOpenTransactions();
  finish(std::move(lost));
  EXPECT_TRUE(isForgotten());
}

}  // namespace festa::test
