#include "app/startup/pg_session.h"

#include "tests/support/servers/pg_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using std::chrono::steady_clock;

std::string failureOf(PgSession& session, const std::string& script) {
  try {
    session.run(script);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(PgSession, AScriptIsRunToItsEndAndItsLastRowsAreLeftOut) {
  PgSession session(sharedPg().createDatabase());
  session.run("CREATE TABLE t (n int); INSERT INTO t VALUES (1), (2); SELECT n FROM t");
  EXPECT_EQ(session.query("SELECT count(*) FROM t WHERE n < $1::int", {"2"}).at(0).at(0), "1");
  EXPECT_EQ(session.query("SELECT NULL").at(0).at(0), std::nullopt);
}

TEST(PgSession, AScriptStopsAtItsFirstError) {
  PgSession session(sharedPg().createDatabase());
  EXPECT_THAT(failureOf(session, "CREATE TABLE t (n int); SELECT 1/0; INSERT INTO t VALUES (1)"),
              testing::HasSubstr("division by zero"));
  EXPECT_EQ(session.query("SELECT count(*) FROM pg_tables WHERE tablename = 't'").at(0).at(0), "0");
}

TEST(PgSession, WhatIsNotAnsweredInTimeFailsAndEndsTheSession) {
  PgSession session(sharedPg().createDatabase(), std::chrono::milliseconds{100});
  EXPECT_EQ(session.query("SELECT 1").at(0).at(0), "1");
  const auto asked = steady_clock::now();
  EXPECT_EQ(failureOf(session, "SELECT pg_sleep(300)"), "PostgreSQL does not answer");
  EXPECT_GE(steady_clock::now() - asked, std::chrono::milliseconds{100});
  EXPECT_LT(steady_clock::now() - asked, std::chrono::seconds{60});
  EXPECT_NE(failureOf(session, "SELECT 1"), "") << "the answer would be that of the one before";
}

}  // namespace festa::test
