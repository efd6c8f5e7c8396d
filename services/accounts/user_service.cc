#include "services/accounts/user_service.h"

#include "services/accounts/login_name.h"

namespace festa {

namespace {

drogon::Task<std::int64_t> insertUser(Sql& sql, const NewUser& user, const std::string& hash) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO users (login, password_hash, name, age, email, phone)"
      " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id",
      user.credentials.login, hash, user.name, user.age, user.email, user.phone);
  if (rows.empty()) throw ServiceError(ErrorCode::kAlreadyRegisteredUser);
  co_return rows[0][0].as<std::int64_t>();
}

}  // namespace

drogon::Task<std::int64_t> UserService::create(NewUser user) const {
  const auto hash = co_await hasher_.hash(user.credentials.password);
  auto write = [&](Sql& sql) { return insertUser(sql, user, hash); };
  co_return co_await plainWrite(database_, write);
}

drogon::Task<UserLogin> UserService::login(Credentials credentials) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT id, password_hash, login, password_version FROM users"
      " WHERE login IN ($1, $2) ORDER BY login = $1 DESC LIMIT 1",
      credentials.login, toNfc(credentials.login));
  std::optional<std::string> hash;
  if (!rows.empty()) hash = rows[0][1].as<std::string>();
  co_await requirePassword(hasher_, hash, credentials.password);
  const auto id = rows[0][0].as<std::int64_t>();
  const Caller caller{rows[0][2].as<std::string>(), id, Realm::kUser, {}, {kUserRole},
                      rows[0][3].as<std::int64_t>()};
  co_return UserLogin{id, tokens_.issue(caller)};
}

}  // namespace festa
