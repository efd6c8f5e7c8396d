// The constraints of migrations/ behind the rules: they refuse by themselves, whatever the service
// does.
#include "tests/services/database_fixture.h"

namespace festa::test {

namespace {

class SchemaTest : public DatabaseFixture {
 protected:
  SchemaTest() {
    session_.run(
        "INSERT INTO festivals (university_name, festival_name, start_date, end_date)"
        " VALUES ('U', 'F', now(), now());"
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " SELECT 'u' || n, '', 'n', 20, '', '' FROM generate_series(1, 2) n;"
        "INSERT INTO seats (performance_id, location, number) VALUES (1, 'A', 1);"
        "INSERT INTO coupons (name, stock, remaining, one_per_user) VALUES ('c', 5, 5, true)");
  }

  // The error of a statement; "" when it was stored.
  std::string refusal(const std::string& statement) {
    try {
      session_.run(statement);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  void expectOnce(const std::string& statement, const std::string& constraint) {
    EXPECT_EQ(refusal(statement), "");
    EXPECT_NE(refusal(statement).find('"' + constraint + '"'), std::string::npos) << statement;
  }
};

}  // namespace

TEST_F(SchemaTest, APinOccupiesASlotOfItsFestival) {
  expectOnce(
      "INSERT INTO announcements (festival_id, title, content, is_pinned, pin_slot)"
      " VALUES (1, 't', 'c', true, 1)",
      "announcements_pin_slot");
  EXPECT_NE(refusal("INSERT INTO announcements (festival_id, title, content, is_pinned)"
                    " VALUES (1, 't', 'c', true)"),
            "");
}

TEST_F(SchemaTest, ASeatHasOneReservationThatIsNotCancelled) {
  const std::string reservation =
      "INSERT INTO reservations (user_id, seat_id, performance_id) VALUES (2, 1, 1)";
  expectOnce(reservation, "reservations_active");
  session_.run("UPDATE reservations SET cancelled_at = now()");
  EXPECT_EQ(refusal(reservation), "");
}

TEST_F(SchemaTest, AUserHasOneClaimOfACouponForOnePerUser) {
  const std::string claim =
      "INSERT INTO coupon_claims (coupon_id, user_id, state, one_per_user) VALUES (1, 1, 'NEW', ";
  expectOnce(claim + "true)", "coupon_claims_once");
  EXPECT_EQ(refusal(claim + "false)"), "");
}

TEST_F(SchemaTest, ANumberOfACouponIsGivenOnce) {
  expectOnce(
      "INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user)"
      " VALUES (1, 1, 'DONE', 1, false)",
      "coupon_claims_sequence");
}

TEST_F(SchemaTest, AStockIsNeverBelowZero) {
  EXPECT_EQ(refusal("UPDATE coupons SET remaining = 0"), "");
  EXPECT_NE(refusal("UPDATE coupons SET remaining = remaining - 1"), "");
}

TEST_F(SchemaTest, ADateOfAFestivalIsThereOnce) {
  expectOnce("INSERT INTO event_dates (festival_id, date) VALUES (1, '2026-05-20')",
             "event_dates_once");
}

TEST_F(SchemaTest, ASequenceOfAFestivalsQuestionsIsThereOnce) {
  expectOnce(
      "INSERT INTO questions (festival_id, question, answer, sequence) VALUES (1, 'q', 'a', 1)",
      "questions_sequence");
}

TEST_F(SchemaTest, RowsWithoutTheBackstopAreRefusedOutsideTheLab) {
  for (const std::string statement :
       {"INSERT INTO reservations (user_id, seat_id, performance_id, unguarded)"
        " VALUES (1, 1, 1, true)",
        "INSERT INTO event_dates (festival_id, date, unguarded) VALUES (1, '2026-05-20', true)"})
    EXPECT_NE(refusal(statement).find("_guarded\""), std::string::npos) << statement;
}

}  // namespace festa::test
