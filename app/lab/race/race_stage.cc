#include "app/lab/race/race_stage.h"

namespace festa {

namespace {

// Rows with this name are a race's.
const std::string kMark = "(race)";
// Parents of each kind that sweep() leaves: those of the races that are still remembered, and more.
const std::string kKept = "20";
// No API accepts a login name with a space in front, and no password has this hash.
const std::string kAccount = " race-";
const std::string kNoPassword = "!";

RaceFact atMost(const char* name, std::int64_t most, std::int64_t found) {
  return {name, most, found, found <= most};
}

RaceFact equals(const char* name, std::int64_t expected, std::int64_t found) {
  return {name, expected, found, found == expected};
}

// A write whose answer was lost or says that its outcome is unknown may be stored as well.
RaceFact atLeast(const char* name, std::int64_t least, std::int64_t found) {
  return {name, least, found, found >= least};
}

}  // namespace

std::vector<RaceRequest> RaceStage::prepare() {
  sweep();
  switch (wish_.subject) {
    case RaceSubject::kPins: return preparePins();
    case RaceSubject::kHotSeat:
    case RaceSubject::kOpeningSecond: return prepareSeats();
    case RaceSubject::kCoupon: return prepareCoupon();
  }
  return {};
}

std::vector<RaceFact> RaceStage::judge(std::int64_t accepted) {
  switch (wish_.subject) {
    case RaceSubject::kPins: return judgePins(accepted);
    case RaceSubject::kHotSeat:
    case RaceSubject::kOpeningSecond: return judgeSeats(accepted);
    case RaceSubject::kCoupon: return judgeCoupon(accepted);
  }
  return {};
}

void RaceStage::sweep() {
  const auto old = [](const std::string& table, const std::string& column) {
    return " IN (SELECT id FROM " + table + " WHERE " + column + " = '" + kMark +
           "' ORDER BY id DESC OFFSET " + kKept + ")";
  };
  const auto performances = old("performances", "title");
  const auto coupons = old("coupons", "name");
  const auto festivals = old("festivals", "university_name");
  session_.run(
      "BEGIN;"
      "DELETE FROM reservations WHERE performance_id" +
      performances +
      ";"
      "DELETE FROM seats WHERE performance_id" +
      performances +
      ";"
      "DELETE FROM performances WHERE id" +
      performances +
      ";"
      "DELETE FROM coupon_claims WHERE coupon_id" +
      coupons +
      ";"
      "DELETE FROM coupons WHERE id" +
      coupons +
      ";"
      "DELETE FROM announcements WHERE festival_id" +
      festivals +
      ";"
      "DELETE FROM festivals WHERE id" +
      festivals +
      ";"
      "COMMIT");
}

std::vector<RaceStage::Account> RaceStage::accounts(const std::string& rows) {
  std::vector<Account> all;
  for (const auto& row : session_.query(rows, {kAccount + "%", std::to_string(wish_.people)}))
    all.push_back({std::stoll(*row[0]), *row[1], std::stoll(*row[2])});
  return all;
}

std::vector<RaceStage::Account> RaceStage::users() {
  session_.query(
      "INSERT INTO users (login, password_hash, name, age, email, phone)"
      " SELECT $1 || n, $2, 'race ' || n, 20, 'race@example.com', '010-0000-0000'"
      " FROM generate_series(1, $3::bigint) AS n ON CONFLICT DO NOTHING",
      {kAccount, kNoPassword, std::to_string(wish_.people)});
  return accounts(
      "SELECT id, login, password_version FROM users WHERE login LIKE $1 ORDER BY id"
      " LIMIT $2::bigint");
}

// All of them belong to the newest race's festival, so that older ones can be swept.
std::vector<RaceStage::Account> RaceStage::councils() {
  session_.query("UPDATE councils SET festival_id = $1::bigint WHERE username LIKE $2",
                 {id_, kAccount + "%"});
  session_.query(
      "INSERT INTO councils (festival_id, username, password_hash, role)"
      " SELECT $1::bigint, $2 || n, $3, 'ROLE_COUNCIL'"
      " FROM generate_series(1, $4::bigint) AS n ON CONFLICT DO NOTHING",
      {id_, kAccount, kNoPassword, std::to_string(wish_.people)});
  return accounts(
      "SELECT id, username, password_version FROM councils WHERE username LIKE $1 ORDER BY id"
      " LIMIT $2::bigint");
}

std::string RaceStage::tokenOf(const Account& account, Realm realm) const {
  Caller caller{account.login,
                account.id,
                realm,
                std::nullopt,
                {realm == Realm::kCouncil ? "ROLE_COUNCIL" : "ROLE_USER"},
                account.passwordVersion};
  if (realm == Realm::kCouncil) caller.festivalId = std::stoll(id_);
  return tokens_.issue(caller);
}

std::vector<RaceRequest> RaceStage::preparePins() {
  id_ = *session_.query(
      "INSERT INTO festivals (university_name, festival_name, start_date, end_date, user_visible)"
      " VALUES ($1, $1, current_date, current_date, false) RETURNING id",
      {kMark})[0][0];
  std::vector<RaceRequest> requests;
  for (const auto& account : councils())
    requests.push_back({"/announcements", R"({"title":"race","content":"race","isPinned":true})",
                        tokenOf(account, Realm::kCouncil), ""});
  return requests;
}

std::vector<RaceRequest> RaceStage::prepareSeats() {
  auto places = session_.query("SELECT id FROM places WHERE name = $1", {kMark});
  if (places.empty())
    places = session_.query(
        "INSERT INTO places (name, location, max_seat) VALUES ($1, $1, 50000) RETURNING id",
        {kMark});
  id_ = *session_.query(
      "INSERT INTO performances (place_id, category, start_at, end_at, start_reservation_at,"
      " end_reservation_at, title, content, acting, film_rating, price) VALUES"
      " ($2::bigint, 'CONCERT', now() + interval '1 day', now() + interval '1 day', now(),"
      " now() + interval '1 hour', $1, $1, $1, 'ALL', 0) RETURNING id",
      {kMark, *places[0][0]})[0][0];
  session_.query(
      "INSERT INTO seats (performance_id, location, number)"
      " SELECT $1::bigint, 'A', n FROM generate_series(1, $2::int) AS n",
      {id_, std::to_string(plan_.prizes)});
  std::vector<RaceRequest> requests;
  for (const auto& account : users()) {
    const auto seat = std::to_string(plan_.people[requests.size()].seat);
    requests.push_back({"/customer/performances/" + id_ + "/reservations",
                        R"({"userId":)" + std::to_string(account.id) +
                            R"(,"seatLocation":"A","seatNumber":)" + seat + "}",
                        tokenOf(account, Realm::kUser), "A-" + seat});
  }
  return requests;
}

std::vector<RaceRequest> RaceStage::prepareCoupon() {
  id_ = *session_.query(
      "INSERT INTO coupons (name, stock, remaining, one_per_user)"
      " VALUES ($1, $2::bigint, $2::bigint, true) RETURNING id",
      {kMark, std::to_string(plan_.prizes)})[0][0];
  std::vector<RaceRequest> requests;
  for (const auto& account : users())
    requests.push_back({"/coupons/" + id_ + "/claims", "", tokenOf(account, Realm::kUser), ""});
  return requests;
}

std::int64_t RaceStage::number(const std::string& query) {
  return std::stoll(session_.query(query, {id_})[0][0].value_or("0"));
}

std::vector<RaceFact> RaceStage::judgePins(std::int64_t accepted) {
  const auto pinned = number(
      "SELECT count(*) FROM announcements WHERE festival_id = $1::bigint AND is_pinned"
      " AND deleted_at IS NULL");
  return {atMost("pins", plan_.prizes, pinned), atLeast("accepted-are-stored", accepted, pinned)};
}

std::vector<RaceFact> RaceStage::judgeSeats(std::int64_t accepted) {
  const std::string active =
      " FROM reservations WHERE performance_id = $1::bigint AND cancelled_at IS NULL";
  const auto reservations = number("SELECT count(*)" + active);
  const auto owners =
      number("SELECT max(n) FROM (SELECT count(*) AS n" + active + " GROUP BY seat_id) AS owners");
  const auto sold =
      number("SELECT count(*) FROM seats WHERE performance_id = $1::bigint AND is_reserved");
  return {atMost("owners-of-a-seat", 1, owners),
          equals("sold-seats-are-reservations", reservations, sold),
          atLeast("accepted-are-stored", accepted, reservations)};
}

std::vector<RaceFact> RaceStage::judgeCoupon(std::int64_t accepted) {
  const std::string done = " FROM coupon_claims WHERE coupon_id = $1::bigint AND state = 'DONE'";
  const auto claims = number("SELECT count(*)" + done);
  const auto numbers = number("SELECT count(DISTINCT sequence)" + done);
  const auto last = number("SELECT max(sequence)" + done);
  const auto taken = number("SELECT stock - remaining FROM coupons WHERE id = $1::bigint");
  return {atMost("coupons-given", plan_.prizes, claims),
          equals("numbers-are-unique", claims, numbers),
          equals("numbers-have-no-gap", numbers, last), equals("stock-is-counted", claims, taken),
          atLeast("accepted-are-stored", accepted, claims)};
}

}  // namespace festa
