// The database's schema, brought up to date at start.
#pragma once

#include "app/startup/pg_session.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace festa {

struct Migration {
  int version;
  std::string name;  // V001__what.sql
  std::string sql;
};

class MigrationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The migrations compiled into this program, in order.
const std::vector<Migration>& builtInMigrations();

// Applies what is missing, each in a transaction of its own together with its entry in
// schema_migrations. Several processes may start at once: one migrates, the others wait. Throws
// MigrationError when an applied migration was changed, when one is missing (here, in the
// numbering, or there, before a later one), and what the database says when a statement fails.
// Newer ones than we know are left alone: a rolling update may be under way.
void migrate(PgSession& session, const std::vector<Migration>& migrations);

}  // namespace festa
