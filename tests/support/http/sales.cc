#include "tests/support/http/sales.h"

#include "services/accounts/token_service.h"

namespace festa::test {

void Sales::haveUsers(int count) const {
  PgSession(database_).query(
      "INSERT INTO users (id, login, password_hash, name, age, email, phone)"
      " SELECT n, 'member' || n, '', 'Member ' || n, 20, 'm@example.com', '010'"
      " FROM generate_series(1, $1::int) AS n ON CONFLICT DO NOTHING",
      {std::to_string(count)});
}

Headers Sales::as(std::int64_t user) {
  const TokenService tokens(serviceEnvironment({}, 1, {}).at("FESTA_AUTH_JWT_SECRET"),
                            std::chrono::hours(1));
  return {
      {"Authorization",
       "Bearer " +
           tokens.issue({"user" + std::to_string(user), user, Realm::kUser, {}, {"ROLE_USER"}})}};
}

std::int64_t Sales::performance(int seats, const std::string& opensAt,
                                const std::string& closesAt) const {
  PgSession session(database_);
  const auto id = *session.query(
      "INSERT INTO performances (place_id, category, start_at, end_at, start_reservation_at,"
      " end_reservation_at, title, content, acting, film_rating, price)"
      " VALUES (1, 'CONCERT', now(), now(), " +
      opensAt + ", " + closesAt +
      ", 'title', 'content', 'acting', 'ALL', 1000) RETURNING id")[0][0];
  session.query(
      "INSERT INTO seats (performance_id, location, number)"
      " SELECT $1::bigint, 'A', n FROM generate_series(1, $2::int) AS n",
      {id, std::to_string(seats)});
  return std::stoll(id);
}

std::int64_t Sales::coupon(std::int64_t stock, bool onePerUser) const {
  return std::stoll(*PgSession(database_).query(
      "INSERT INTO coupons (name, stock, remaining, one_per_user)"
      " VALUES ('coupon', $1::bigint, $1::bigint, $2::boolean) RETURNING id",
      {std::to_string(stock), onePerUser ? "true" : "false"})[0][0]);
}

std::string Sales::openClaims(std::int64_t coupon, int firstUser, int lastUser) {
  return "BEGIN; INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user)"
         " SELECT " +
         std::to_string(coupon) + ", n, 'DONE', 1000000 + n, true FROM generate_series(" +
         std::to_string(firstUser) + ", " + std::to_string(lastUser) + ") AS n";
}

std::int64_t Sales::number(const std::string& query, std::int64_t parameter) const {
  return std::stoll(*PgSession(database_).query(query, {std::to_string(parameter)}).at(0).at(0));
}

Sales::Seats Sales::seatsOf(std::int64_t performance) const {
  const auto row =
      PgSession(database_)
          .query(
              "SELECT count(r.id), count(DISTINCT r.seat_id),"
              " (SELECT count(*) FROM seats WHERE performance_id = $1::bigint AND is_reserved)"
              " FROM reservations r WHERE r.performance_id = $1::bigint AND r.cancelled_at IS NULL",
              {std::to_string(performance)})
          .at(0);
  return {std::stoll(*row[0]), std::stoll(*row[1]), std::stoll(*row[2])};
}

std::string reservationPath(std::int64_t performance) {
  return "/customer/performances/" + std::to_string(performance) + "/reservations";
}

std::string reservationBody(std::int64_t user, int seat, const std::string& location) {
  return R"({"userId":)" + std::to_string(user) + R"(,"seatLocation":")" + location +
         R"(","seatNumber":)" + std::to_string(seat) + "}";
}

}  // namespace festa::test
