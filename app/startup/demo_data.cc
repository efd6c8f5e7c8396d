#include "app/startup/demo_data.h"

#include "services/accounts/password_hasher.h"

#include <array>
#include <map>

namespace festa {

namespace {

struct DemoCouncil {
  const char* username;
  const char* password;
  const char* festival;
  const char* role;
};

constexpr std::array kCouncils{
    DemoCouncil{"admin", "admin-demo-1", "1", "ROLE_ADMIN"},
    DemoCouncil{"council1", "council-demo-1", "1", "ROLE_COUNCIL"},
    DemoCouncil{"council2", "council-demo-1", "2", "ROLE_COUNCIL"},
};
constexpr std::int64_t kUsers = 100;  // user1 …
constexpr const char* kUserPassword = "user-demo-1";

void addCouncil(PgSession& session, const DemoCouncil& council) {
  session.query(
      "INSERT INTO councils (festival_id, username, password_hash, role) VALUES ($1::bigint, $2, "
      "$3, $4)"
      " ON CONFLICT DO NOTHING",
      {council.festival, council.username, PasswordHasher::hashNow(council.password),
       council.role});
}

bool exists(PgSession& session, const std::string& row) {
  return !session.query("SELECT 1 FROM " + row).empty();
}

// After rows with ids of our own choice.
void moveSequence(PgSession& session, const std::string& table) {
  session.query(
      "SELECT setval(pg_get_serial_sequence($1, 'id'), (SELECT max(id) FROM " + table + "))",
      {table});
}

void loadFestivalsAndAccounts(PgSession& session) {
  session.run(
      "INSERT INTO festivals"
      " (id, university_name, festival_name, start_date, end_date, user_visible) VALUES"
      " (1, '페스타대학교', '봄 대동제', current_date, current_date + 2, true),"
      " (2, '코루틴대학교', '가을 축제', current_date + 30, current_date + 32, true)"
      " ON CONFLICT DO NOTHING");
  moveSequence(session, "festivals");
  for (const auto& council : kCouncils) addCouncil(session, council);
  addDemoUsers(session, kUsers);
}

void loadPerformance(PgSession& session) {
  session.run(
      "INSERT INTO places (id, name, location, max_seat) VALUES"
      " (1, '페스타 아레나', '서울', 50000) ON CONFLICT DO NOTHING");
  moveSequence(session, "places");
  session.run(
      "INSERT INTO performances (id, place_id, category, start_at, end_at, start_reservation_at,"
      " end_reservation_at, title, content, acting, film_rating, price) VALUES"
      " (1, 1, 'CONCERT', date_trunc('hour', now()) + interval '1 year 1 day',"
      " date_trunc('hour', now()) + interval '1 year 1 day 3 hours', now() - interval '1 day',"
      " now() + interval '1 year', '봄밤 콘서트', '개막 공연입니다.', '코루틴 밴드', 'ALL', 50000)"
      " ON CONFLICT DO NOTHING");
  moveSequence(session, "performances");
  session.run(
      "INSERT INTO seats (performance_id, location, number)"
      " SELECT 1, section, number FROM unnest(ARRAY['A', 'B', 'C', 'D', 'E']) AS section,"
      " generate_series(1, 100) AS number ON CONFLICT DO NOTHING");
}

void loadCoupon(PgSession& session) {
  session.run(
      "INSERT INTO coupons (id, name, stock, remaining, one_per_user) VALUES"
      " (1, '푸드트럭 쿠폰', 1000, 1000, true) ON CONFLICT DO NOTHING");
  moveSequence(session, "coupons");
}

std::vector<std::string> councilsWithDemoPasswords(PgSession& session) {
  std::vector<std::string> names;
  for (const auto& council : kCouncils)
    for (const auto& row : session.query("SELECT password_hash FROM councils WHERE username = $1",
                                         {council.username}))
      if (PasswordHasher::verifyNow(*row[0], council.password))
        names.emplace_back(council.username);
  return names;
}

// Accounts that were loaded together share a hash, which is verified once.
std::vector<std::string> usersWithDemoPasswords(PgSession& session) {
  std::vector<std::string> names;
  std::map<std::string, bool> isKnown;  // by hash
  for (const auto& row :
       session.query("SELECT login, password_hash FROM users WHERE login IN"
                     " (SELECT 'user' || n FROM generate_series(1, $1::bigint) AS n) ORDER BY id",
                     {std::to_string(kUsers)})) {
    const auto& hash = *row[1];
    if (!isKnown.contains(hash)) isKnown[hash] = PasswordHasher::verifyNow(hash, kUserPassword);
    if (isKnown[hash]) names.push_back(*row[0]);
  }
  return names;
}

}  // namespace

std::vector<std::string> accountsWithDemoPasswords(PgSession& session) {
  auto names = councilsWithDemoPasswords(session);
  for (auto& user : usersWithDemoPasswords(session)) names.push_back(std::move(user));
  return names;
}

// One hash for all: a hundred computations would delay the first start by seconds.
std::int64_t addDemoUsers(PgSession& session, std::int64_t count) {
  const auto added = session.query(
      "INSERT INTO users (login, password_hash, name, age, email, phone)"
      " SELECT 'user' || n, $1, '사용자' || n, 20 + n % 10, 'user' || n || '@example.com', "
      "'010-' || to_char(n, 'FM0000\"-\"0000')"
      " FROM generate_series(1, $2::bigint) AS n ON CONFLICT DO NOTHING RETURNING 1",
      {PasswordHasher::hashNow(kUserPassword), std::to_string(count)});
  return static_cast<std::int64_t>(added.size());
}

void loadDemoData(PgSession& session) {
  session.run("BEGIN");
  // Each kind by itself: a database may have those of an older version. What was loaded is left
  // alone, and so are the sequences that a running service draws from.
  if (!exists(session, "users WHERE login = 'user100'")) loadFestivalsAndAccounts(session);
  if (!exists(session, "performances WHERE id = 1")) loadPerformance(session);
  if (!exists(session, "coupons WHERE id = 1")) loadCoupon(session);
  session.run("COMMIT");
}

}  // namespace festa
