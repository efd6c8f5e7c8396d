// The sessions that a service has in PostgreSQL.
#pragma once

#include <string>

namespace festa::test {

// For pg_stat_activity: every session of this database that is not a PgSession, by which tests look
// and act. It is no list of names, so that no client of the service is left out.
inline const std::string kOfTheService =
    "datname = current_database() AND backend_type = 'client backend'"
    " AND application_name <> 'festabook-start'";

}  // namespace festa::test
