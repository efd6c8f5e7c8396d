#include "app/startup/migrator.h"

#include "app/operations/log.h"
#include "controllers/pages/embedded_files.h"

#include <sodium.h>

#include <array>
#include <map>

namespace festa {

namespace {

constexpr const char* kLockId = "7305460713";  // any number that is the same in all instances

std::string checksum(const std::string& text) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::string hex(hash.size() * 2 + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  hex.pop_back();
  return hex;
}

void requireOrder(const std::vector<Migration>& migrations) {
  for (std::size_t i = 0; i < migrations.size(); ++i)
    if (migrations[i].version != static_cast<int>(i) + 1)
      throw MigrationError("migrations must be numbered 1, 2, 3 …: " + migrations[i].name +
                           " is out of order");
}

void apply(PgSession& session, const Migration& migration) {
  session.run("BEGIN");
  try {
    session.run(migration.sql);
    session.query(
        "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1::int, $2, $3)",
        {std::to_string(migration.version), migration.name, checksum(migration.sql)});
    session.run("COMMIT");
  } catch (...) {
    session.run("ROLLBACK");
    throw;
  }
  LogLine("migration").with("name", migration.name);
}

void applyMissing(PgSession& session, const std::vector<Migration>& migrations) {
  session.run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version int PRIMARY KEY, name text NOT NULL, "
      "checksum text NOT NULL,"
      " applied_at timestamptz NOT NULL DEFAULT now())");
  std::map<int, std::string> applied;
  for (const auto& row : session.query("SELECT version, checksum FROM schema_migrations"))
    applied[std::stoi(*row[0])] = *row[1];
  for (const auto& migration : migrations) {
    const auto found = applied.find(migration.version);
    if (found == applied.end()) {
      if (!applied.empty() && migration.version < applied.rbegin()->first)
        throw MigrationError(migration.name + " was skipped: the database has a later one already");
      apply(session, migration);
    } else if (found->second != checksum(migration.sql)) {
      throw MigrationError(
          migration.name +
          " was changed after it had been applied: restore it and add a new migration");
    }
  }
}

std::vector<Migration> readMigrations() {
  std::vector<Migration> migrations;
  for (const auto& file : migrationFiles())
    migrations.push_back(
        {std::stoi(file.name.substr(1, 3)), file.name, std::string(file.content)});  // V001__…
  return migrations;
}

}  // namespace

const std::vector<Migration>& builtInMigrations() {
  static const std::vector<Migration> migrations = readMigrations();
  return migrations;
}

void migrate(PgSession& session, const std::vector<Migration>& migrations) {
  requireOrder(migrations);
  session.run(std::string("SELECT pg_advisory_lock(") + kLockId + ")");
  try {
    applyMissing(session, migrations);
  } catch (...) {
    session.run(std::string("SELECT pg_advisory_unlock(") + kLockId + ")");
    throw;
  }
  session.run(std::string("SELECT pg_advisory_unlock(") + kLockId + ")");
}

}  // namespace festa
