// A write under a WriteGuard: the guard comes first, an unknown COMMIT is resolved, conflicts are
// repeated.
#pragma once

#include "services/write/db_failure.h"
#include "services/write/receipt.h"
#include "services/write/row_guard.h"

#include <variant>

namespace festa {

struct WriteSettings {
  std::chrono::milliseconds commitTimeout{700};
  int conflictRetries = 30;
};

// After an unknown COMMIT under guard.fence: waits on another connection for the lost backend to
// finish and looks whether the row carries our token. If not, the fence is raised so that the lost
// transaction can never commit. Tries until the lease ends, renewals from now on not counted: the
// client waits. kUnresolved at once for guards without fence.
drogon::Task<Resolution> resolveCommit(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                       GuardedRow row, WriteSettings settings);

// resolveCommit as the end of a write: returns when it is committed after all. Throws
// ServiceError(kDatabaseUnavailable) when it never will be. Throws kCommitUnconfirmed when the
// outcome stays unknown; the lock is then left to expire.
drogon::Task<> requireCommitted(drogon::orm::DbClientPtr db, WriteGuard& guard, GuardedRow row,
                                WriteSettings settings);

// Waits a random time that grows with the attempt before a conflicting transaction is repeated.
drogon::Task<> conflictPause(int attempt);

TransactionOptions optionsFor(const WriteGuard& guard, const WriteSettings& settings);

// One attempt: RowGuard::open(), the body, its receipt, RowGuard::close(). The body's value is
// stored in `result`.
template <class Body, class Result>
struct GuardedBody {
  WriteGuard& guard;
  GuardedRow row;
  Body& body;
  const Receipt<Result>* receipt;  // may be null
  std::optional<Result>& result;

  drogon::Task<std::monostate> operator()(Sql& sql) {
    RowGuard rowGuard(guard, row);
    co_await rowGuard.open(sql);
    result = co_await body(sql);
    if (receipt != nullptr) co_await receipt->keep(sql, *result);
    co_await rowGuard.close(sql);
    co_return std::monostate{};
  }
};

enum class Attempt { kCommitted, kConflict, kUnknown };

// One transaction. A conflict is thrown when it may not be repeated.
template <class Step>
drogon::Task<Attempt> attemptWrite(drogon::orm::DbClientPtr db, TransactionOptions options,
                                   Step& step, bool mayRepeat) {
  try {
    co_await inTransaction(db, options, step);
    co_return Attempt::kCommitted;
  } catch (const CommitUnknown&) {
    co_return Attempt::kUnknown;
  } catch (const WriteConflict&) {
    if (!mayRepeat) throw ServiceError(ErrorCode::kLockTimeout, "conflicts did not end");
  } catch (const drogon::orm::DrogonDbException& error) {
    if (classify(error) != DbFailure::kConflict || !mayRepeat) throw;
  }
  co_return Attempt::kConflict;
}

// Runs `body(Sql&) -> Task<T>` in a transaction under the guard and returns its value once it is
// committed. The body may run more than once; only the last run's effects are stored. Throws what
// the body throws, and ServiceError for: kLockLost, kLockTimeout (conflicts beyond the retries),
// kDatabaseUnavailable (nothing stored), kCommitUnconfirmed (stored or not: unknown).
template <class Body>
drogon::Task<WrittenBy<Body>> guardedWrite(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                           GuardedRow row, WriteSettings settings, Body& body,
                                           const Receipt<WrittenBy<Body>>* receipt = nullptr) {
  using Result = WrittenBy<Body>;
  const TransactionOptions options = optionsFor(guard, settings);
  // Kept out here: when an unknown COMMIT turns out to have happened, this is the answer.
  std::optional<Result> result;
  GuardedBody<Body, Result> step{guard, row, body, receipt, result};
  for (int attempt = 0;; ++attempt) {
    const auto end = co_await attemptWrite(db, options, step, attempt < settings.conflictRetries);
    if (end == Attempt::kUnknown) co_await requireCommitted(db, guard, row, settings);
    if (end != Attempt::kConflict) co_return std::move(*result);
    if (guard.observer != nullptr) guard.observer->conflictRepeated();
    co_await conflictPause(attempt);
  }
}

}  // namespace festa
