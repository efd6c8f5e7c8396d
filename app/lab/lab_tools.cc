#include "app/lab/lab_tools.h"

#include "app/startup/demo_data.h"
#include "services/accounts/token_service.h"

namespace festa {

namespace {

void requireLab(const Config& config) {
  if (!config.lab) throw ConfigError("this is for the lab: set lab (./dev run --lab)");
}

Caller callerNamed(PgSession& session, const std::string& name) {
  const auto users =
      session.query("SELECT id, role, password_version FROM users WHERE login = $1", {name});
  if (!users.empty())
    return {name,         std::stoll(*users[0][0]), Realm::kUser,
            std::nullopt, {*users[0][1]},           std::stoll(*users[0][2])};
  const auto councils = session.query(
      "SELECT id, role, festival_id, password_version FROM councils WHERE username = $1", {name});
  if (councils.empty()) throw ConfigError("there is no user and no council named '" + name + "'");
  return {name,
          std::stoll(*councils[0][0]),
          Realm::kCouncil,
          std::stoll(*councils[0][2]),
          {*councils[0][1]},
          std::stoll(*councils[0][3])};
}

}  // namespace

std::int64_t seedUsers(const Config& config, std::int64_t count) {
  requireLab(config);
  PgSession session(config.database);
  return addDemoUsers(session, count);
}

std::vector<std::string> tokensFor(const Config& config, const std::vector<std::string>& names) {
  requireLab(config);
  PgSession session(config.database);
  const TokenService tokens(config.auth.jwtSecret, config.auth.tokenLife);
  std::vector<std::string> all;
  all.reserve(names.size());
  for (const auto& name : names) all.push_back(tokens.issue(callerNamed(session, name)));
  return all;
}

}  // namespace festa
