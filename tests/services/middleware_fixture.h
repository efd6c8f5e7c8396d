// A lock middleware around handlers that use the database.
#pragma once

#include "tests/services/database_fixture.h"
#include "tests/support/lock/middleware.h"

namespace festa::test {

using MiddlewareFixture = WithMiddleware<DatabaseFixture>;

}  // namespace festa::test
