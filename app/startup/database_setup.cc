#include "app/startup/database_setup.h"

#include "app/operations/log.h"
#include "app/startup/demo_data.h"
#include "app/startup/migrator.h"

#include <algorithm>
#include <array>

namespace festa {

namespace {

// Failures are told apart by the server's English texts.
void requireEnglishMessages(PgSession& session) {
  const auto language = *session.query("SHOW lc_messages")[0][0];
  if (language.empty() || language == "C" || language == "POSIX" || language.starts_with("C.") ||
      language.starts_with("en"))
    return;
  throw ConfigError("PostgreSQL's lc_messages is '" + language +
                    "'; set it to C or English for this database");
}

void requireTimezone(PgSession& session, const std::string& timezone) {
  try {
    session.query("SELECT set_config('timezone', $1, false)", {timezone});
  } catch (const std::runtime_error&) {
    throw ConfigError("configuration: 'timezone' is not one that PostgreSQL knows: " + timezone);
  }
}

// An answer to a statement is said to be an acknowledgement of its commit.
void requireDurableCommits(PgSession& session) {
  const auto setting = *session.query("SHOW synchronous_commit")[0][0];
  if (setting != "off") return;
  throw ConfigError(
      "PostgreSQL's synchronous_commit is off: it would acknowledge what a crash can still lose; "
      "set it to on for this database");
}

// The tables that the lab may write unguarded rows to, each with a CHECK against them.
constexpr std::array kGuardedTables{"announcements", "event_dates", "questions", "reservations",
                                    "coupon_claims"};

std::string guardOf(const std::string& table) {
  return table + "_guarded";
}

bool forbidsUnguardedRows(PgSession& session, const std::string& table) {
  return !session
              .query("SELECT 1 FROM pg_constraint WHERE conname = $1 AND convalidated",
                     {guardOf(table)})
              .empty();
}

void settleUnguardedRows(PgSession& session, const Config& config) {
  for (const std::string table : kGuardedTables) {
    if (config.lab) {
      session.run("ALTER TABLE " + table + " DROP CONSTRAINT IF EXISTS " + guardOf(table));
      continue;
    }
    if (forbidsUnguardedRows(session, table)) continue;
    const std::string text = "this database was used by the lab: the constraint " + guardOf(table) +
                             " is missing and unguarded rows may exist";
    if (config.isProduction())
      throw ConfigError(text + "; production needs a database without such rows");
    LogLine("database", "warn").with("text", text);
  }
}

constexpr std::size_t kNamesShown = 6;

void refuseDemoPasswords(PgSession& session) {
  const auto names = accountsWithDemoPasswords(session);
  if (names.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    list += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamesShown)
    list += " and " + std::to_string(names.size() - kNamesShown) + " more";
  throw ConfigError("this database has accounts of the demo with their known passwords (" + list +
                    "); change their passwords or delete them before you start in production, or "
                    "set database.name to a database without demo data");
}

void loadPasswordVersions(PgSession& session, PasswordVersions& passwords) {
  const auto horizon = std::to_string(passwords.horizon().count());
  for (const auto& row : session.query(kChangedPasswords, {horizon}))
    passwords.learn(realmNamed(*row[0]), std::stoll(*row[1]), std::stoll(*row[2]));
}

}  // namespace

std::int64_t prepareDatabase(const Config& config, PasswordVersions& passwords) {
  PgSession session(config.database);
  requireEnglishMessages(session);
  requireDurableCommits(session);
  requireTimezone(session, config.timezone);
  migrate(session, builtInMigrations());
  settleUnguardedRows(session, config);
  if (config.demo) loadDemoData(session);
  if (config.isProduction()) refuseDemoPasswords(session);
  loadPasswordVersions(session, passwords);
  return std::stoll(*session.query("SELECT nextval('lock_epoch')")[0][0]);
}

}  // namespace festa
