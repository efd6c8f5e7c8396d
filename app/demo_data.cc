#include "app/demo_data.h"

#include "services/password_hasher.h"

namespace festa {

namespace {

void addCouncil(PgSession& session, const std::string& username, const std::string& password,
                int festival, const std::string& role) {
  session.query(
      "INSERT INTO councils (festival_id, username, password_hash, role) VALUES ($1::bigint, $2, "
      "$3, $4)"
      " ON CONFLICT DO NOTHING",
      {std::to_string(festival), username, PasswordHasher::hashNow(password), role});
}

bool isLoaded(PgSession& session) {
  return !session.query("SELECT 1 FROM users WHERE login = 'user100'").empty();
}

}  // namespace

void loadDemoData(PgSession& session) {
  if (isLoaded(session)) return;
  session.run("BEGIN");
  session.run(
      "INSERT INTO festivals (id, university_name, festival_name, start_date, end_date) VALUES"
      " (1, '페스타대학교', '봄 대동제', current_date, current_date + 2),"
      " (2, '코루틴대학교', '가을 축제', current_date + 30, current_date + 32) ON CONFLICT DO "
      "NOTHING");
  session.run(
      "SELECT setval(pg_get_serial_sequence('festivals', 'id'), greatest((SELECT max(id) FROM "
      "festivals), 2))");
  addCouncil(session, "admin", "admin-demo-1", 1, "ROLE_ADMIN");
  addCouncil(session, "council1", "council-demo-1", 1, "ROLE_COUNCIL");
  addCouncil(session, "council2", "council-demo-1", 2, "ROLE_COUNCIL");
  // One hash for all: a hundred computations would delay the first start by seconds.
  session.query(
      "INSERT INTO users (login, password_hash, name, age, email, phone)"
      " SELECT 'user' || n, $1, '사용자' || n, 20 + n % 10, 'user' || n || '@example.com', "
      "'010-0000-' || to_char(n, 'FM0000')"
      " FROM generate_series(1, 100) AS n ON CONFLICT DO NOTHING",
      {PasswordHasher::hashNow("user-demo-1")});
  session.run("COMMIT");
}

}  // namespace festa
