// The rows that the README's examples use.
#pragma once

#include "app/startup/pg_session.h"

#include <string>
#include <vector>

namespace festa {

// Safe to repeat, also on a database that an older version loaded; never in production. Admin
// `admin`, councils `council1` and `council2`, users `user1` … `user100`, festivals 1 and 2; place
// 1 of 50,000 seats, performance 1 with sections A to E of 100 seats, open for reservation for a
// year from its loading; coupon 1, a stock of 1,000, one per user.
void loadDemoData(PgSession& session);

// The login names of the demo's accounts in this database that still have their known passwords:
// councils first. Takes some ten milliseconds per different password.
std::vector<std::string> accountsWithDemoPasswords(PgSession& session);

// Users user1 … user<count>, all with the password user-demo-1. How many are new.
std::int64_t addDemoUsers(PgSession& session, std::int64_t count);

}  // namespace festa
