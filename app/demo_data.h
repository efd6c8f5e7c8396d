// The accounts and festivals that the README's examples use.
#pragma once

#include "app/pg_session.h"

namespace festa {

// Safe to repeat; never in production. Admin `admin`, councils `council1` and `council2`, users
// `user1` … `user100`, festivals 1 and 2.
void loadDemoData(PgSession& session);

}  // namespace festa
