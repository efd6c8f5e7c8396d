#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

std::string summary(PgSession& session) {
  return *session.query(
      "SELECT concat_ws(' ', (SELECT count(*) FROM users), (SELECT count(*) FROM councils),"
      " (SELECT count(*) FROM festivals),"
      " (SELECT max_seat FROM places WHERE id = 1), (SELECT count(*) FROM performances),"
      " (SELECT count(*) FROM seats), (SELECT count(DISTINCT location) FROM seats),"
      " (SELECT stock || ',' || remaining || ',' || one_per_user FROM coupons WHERE id = 1))")[0]
                                                                                              [0];
}

const std::string kAll = "100 3 2 50000 1 500 5 1000,1000,true";

}  // namespace

TEST(DemoData, IsLoadedOnceAndCompletedWhereAnOlderVersionLoadedIt) {
  const auto database = sharedPg().createDatabase();
  PgSession session(database);
  Service(database).stop();
  EXPECT_EQ(summary(session), kAll);
  EXPECT_EQ(session
                .query("SELECT 1 FROM performances WHERE id = 1 AND category = 'CONCERT'"
                       " AND start_reservation_at < now() AND now() < end_reservation_at")
                .size(),
            1U);
  session.run("UPDATE coupons SET remaining = 7");
  Service(database).stop();
  EXPECT_EQ(summary(session), "100 3 2 50000 1 500 5 1000,7,true") << "what is there is left alone";
  session.run(
      "DELETE FROM seats; DELETE FROM performances; DELETE FROM places; DELETE FROM coupons");
  Service(database).stop();
  EXPECT_EQ(summary(session), kAll);
}

TEST(DemoData, NewRowsGetIdsBehindTheLoadedOnes) {
  const auto database = sharedPg().createDatabase();
  Service(database).stop();
  PgSession session(database);
  const auto id = session.query(
      "INSERT INTO places (name, location, max_seat) VALUES ('p', 'l', 1) RETURNING id");
  EXPECT_EQ(*id[0][0], "2");
  const auto coupon = session.query(
      "INSERT INTO coupons (name, stock, remaining, one_per_user) VALUES ('c', 1, 1, true)"
      " RETURNING id");
  EXPECT_EQ(*coupon[0][0], "2");
}

}  // namespace festa::test
