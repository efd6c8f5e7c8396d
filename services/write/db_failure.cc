#include "services/write/db_failure.h"

#include <array>
#include <string_view>

namespace festa {

namespace {

template <std::size_t N>
bool containsAny(std::string_view text, const std::array<std::string_view, N>& parts) {
  for (const auto part : parts)
    if (text.find(part) != std::string_view::npos) return true;
  return false;
}

constexpr std::string_view kLockTimeOut = "canceling statement due to lock timeout";
// "user request": the statement time-out fired, but PostgreSQL no longer knows which timer it was.
// The service itself never cancels a statement.
constexpr std::array<std::string_view, 2> kTimeOuts{"canceling statement due to statement timeout",
                                                    "canceling statement due to user request"};
// Drogon's own texts for a pool whose connections are all busy.
constexpr std::array<std::string_view, 2> kNeverSent{"Too many queries in buffer",
                                                     "No connection came free"};
constexpr std::string_view kSentLate = "A connection came free too late";
// The multixact: PostgreSQL 15 may trip over an updater that has just been rolled back when many
// transactions share and update one row. Its own transaction is rolled back, too. Aborted: the
// session was still in the failed transaction of an earlier request; nothing of this one was done.
constexpr std::array<std::string_view, 8> kConflicts{
    "could not serialize access",
    "deadlock detected",
    "new multixact has more than one updating member",
    "current transaction is aborted",
    "violates unique constraint \"announcements_pin_slot\"",
    "violates unique constraint \"coupon_claims_once\"",
    "violates unique constraint \"event_dates_once\"",
    "violates unique constraint \"questions_sequence\""};
constexpr std::array<std::string_view, 16> kGone{"server closed the connection",
                                                 "SSL SYSCALL error",
                                                 "SSL connection has been closed",
                                                 "SSL error",
                                                 "terminating connection",
                                                 "connection to server",
                                                 "could not receive data",
                                                 "could not send data",
                                                 "no connection to the server",
                                                 "the database system is",
                                                 "onnection refused",
                                                 "onnection reset",
                                                 "onnection timed out",
                                                 "Broken pipe",
                                                 "Transaction begin failed",
                                                 "has been rolled back"};

}  // namespace

DbFailure classify(const drogon::orm::DrogonDbException& error) {
  if (dynamic_cast<const drogon::orm::BrokenConnection*>(&error) != nullptr)
    return DbFailure::kUnavailable;
  const std::string_view text = error.base().what();
  if (containsAny(text, kNeverSent) || text == kSentLate) return DbFailure::kOverloaded;
  if (dynamic_cast<const drogon::orm::TimeoutError*>(&error) != nullptr)
    return DbFailure::kUnavailable;
  if (text.find(kLockTimeOut) != std::string_view::npos) return DbFailure::kLockTimedOut;
  if (containsAny(text, kTimeOuts)) return DbFailure::kTimedOut;
  if (containsAny(text, kConflicts)) return DbFailure::kConflict;
  // libpq leaves the text empty when the socket ended without a word from the server.
  if (text.empty() || containsAny(text, kGone)) return DbFailure::kUnavailable;
  return DbFailure::kOther;
}

bool isUndone(const drogon::orm::DrogonDbException& error) {
  if (classify(error) == DbFailure::kUnavailable) return false;
  const std::string_view text = error.base().what();
  return text.starts_with("ERROR:") || containsAny(text, kNeverSent);
}

bool violates(const drogon::orm::DrogonDbException& error, const std::string& constraint) {
  const std::string_view text = error.base().what();
  return text.find("violates unique constraint \"" + constraint + '"') != std::string_view::npos;
}

ErrorCode toErrorCode(DbFailure failure) {
  switch (failure) {
    case DbFailure::kUnavailable: return ErrorCode::kDatabaseUnavailable;
    case DbFailure::kTimedOut: return ErrorCode::kDatabaseBusy;
    case DbFailure::kOverloaded: return ErrorCode::kOverloaded;
    case DbFailure::kLockTimedOut:
    case DbFailure::kConflict: return ErrorCode::kLockTimeout;
    case DbFailure::kOther: return ErrorCode::kInternal;
  }
  return ErrorCode::kInternal;
}

}  // namespace festa
