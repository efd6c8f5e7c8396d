#include "services/accounts/council_service.h"

#include "services/accounts/login_name.h"

namespace festa {

namespace {

drogon::Task<std::int64_t> insertCouncil(Sql& sql, const NewCouncil& council,
                                         const std::string& hash) {
  const auto festival =
      co_await sql.execSqlCoro("SELECT 1 FROM festivals WHERE id = $1", council.festivalId);
  if (festival.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO councils (festival_id, username, password_hash, role) VALUES ($1, $2, $3, "
      "'ROLE_COUNCIL')"
      " ON CONFLICT DO NOTHING RETURNING id",
      council.festivalId, council.username, hash);
  if (rows.empty()) throw ServiceError(ErrorCode::kAlreadyRegisteredCouncil);
  co_return rows[0][0].as<std::int64_t>();
}

ServiceError wrongCurrentPassword() {
  return ServiceError(std::vector<FieldError>{
      {"currentPassword", "현재 비밀번호가 일치하지 않습니다.", "The current password is wrong."}});
}

// Replaces the hash only if it is still the one that the current password was checked against. The
// new version.
drogon::Task<std::int64_t> replaceHash(Sql& sql, std::int64_t councilId, const std::string& checked,
                                       const std::string& hash) {
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE councils SET password_hash = $1 WHERE id = $2 AND password_hash = $3"
      " RETURNING password_version",
      hash, councilId, checked);
  // Thrown, so that no receipt is left for what did not happen.
  if (rows.empty()) throw wrongCurrentPassword();
  co_return rows[0][0].as<std::int64_t>();
}

}  // namespace

drogon::Task<Login> CouncilService::login(Credentials credentials) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT id, festival_id, password_hash, role, username, password_version FROM councils"
      " WHERE username IN ($1, $2) ORDER BY username = $1 DESC LIMIT 1",
      credentials.login, toNfc(credentials.login));
  std::optional<std::string> hash;
  if (!rows.empty()) hash = rows[0][2].as<std::string>();
  co_await requirePassword(hasher_, hash, credentials.password);
  const auto festivalId = rows[0][1].as<std::int64_t>();
  const Caller caller{
      rows[0][4].as<std::string>(),   rows[0][0].as<std::int64_t>(), Realm::kCouncil, festivalId,
      {rows[0][3].as<std::string>()}, rows[0][5].as<std::int64_t>()};
  co_return Login{festivalId, tokens_.issue(caller)};
}

drogon::Task<std::int64_t> CouncilService::create(NewCouncil council,
                                                  const Receipt<std::int64_t>* receipt) const {
  const auto hash = co_await hasher_.hash(council.password);
  auto write = [&](Sql& sql) { return insertCouncil(sql, council, hash); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<> CouncilService::changePassword(std::int64_t councilId, std::string current,
                                              std::string replacement,
                                              const Receipt<std::int64_t>* receipt) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT password_hash FROM councils WHERE id = $1", councilId);
  if (rows.empty()) throw ServiceError(ErrorCode::kUnauthenticated, "the token's council is gone");
  const auto checked = rows[0][0].as<std::string>();
  const bool right = co_await hasher_.verify(checked, current);
  if (!right) throw wrongCurrentPassword();
  const auto hash = co_await hasher_.hash(replacement);
  auto write = [&](Sql& sql) { return replaceHash(sql, councilId, checked, hash); };
  const auto version = co_await plainWrite(database_, write, receipt);
  passwords_.learn(Realm::kCouncil, councilId, version);
}

}  // namespace festa
