// What kind of failure a database exception is. Drogon gives no SQLSTATE for PostgreSQL, so this
// reads English texts; start refuses a server whose lc_messages is another language.
#pragma once

#include "services/error.h"

#include <drogon/orm/Exception.h>

namespace festa {

enum class DbFailure {
  kUnavailable,   // no connection, or lost before the statement was answered, or no answer
  kLockTimedOut,  // the server's lock time-out
  kTimedOut,      // the server's statement time-out
  kOverloaded,    // the server answers, but too many wait for a connection
  kConflict,      // serialization failure, deadlock, or a constraint that a concurrent writer met
                  // first: may be repeated
  kOther,         // a bug of ours
};

DbFailure classify(const drogon::orm::DrogonDbException& error);
ErrorCode toErrorCode(DbFailure failure);

// Whether the server has said for certain that the statement was undone, or it was never sent. A
// text of libpq, FATAL and PANIC do not say that.
bool isUndone(const drogon::orm::DrogonDbException& error);

// A unique constraint or index of that name refused the write.
bool violates(const drogon::orm::DrogonDbException& error, const std::string& constraint);

}  // namespace festa
