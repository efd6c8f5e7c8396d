// A write under a WriteGuard: the fence comes first, an unknown COMMIT is resolved, conflicts are
// repeated.
#pragma once

#include "services/db_failure.h"
#include "services/write_guard.h"

#include <string>
#include <variant>

namespace festa {

// The statements that a table with a fence column needs, each with the row's id as its last
// parameter.
struct FencedTable {
  std::string raise;  // ($1 token, $2 id): raises the fence to the token if it is above; returns
                      // the row then
  std::string read;   // ($1 id): the stored fence
  std::string readForUpdate;  // ($1 id): the same, waiting for whoever is writing the row
  ErrorCode missing;          // when there is no such row
};

struct FencedRow {
  const FencedTable& table;
  std::int64_t id;
};

struct WriteTimeouts {
  std::chrono::milliseconds commit{700};
  int conflictRetries = 10;
};

// First statement of a guarded transaction: claims the row for guard.fence. Takes a higher token
// from the lock when the row holds one that is not lower (our own earlier write, or a lock that
// moved on); throws ServiceError(kLockLost) when the lock is no longer ours to renew. Does nothing
// for guards without fence.
drogon::Task<> raiseFence(Sql& sql, WriteGuard& guard, FencedRow row);

// The statement that sets up the guard's way inside the transaction, then raiseFence.
drogon::Task<> openGuard(Sql& sql, WriteGuard& guard, FencedRow row);

enum class Resolution { kCommitted, kNotCommitted, kUnresolved };

// After an unknown COMMIT under guard.fence: waits on another connection for the lost backend to
// finish and looks whether the row carries our token. If not, the fence is raised so that the lost
// transaction can never commit. Tries until the lease ends. kUnresolved at once for guards without
// fence.
drogon::Task<Resolution> resolveCommit(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                       FencedRow row, WriteTimeouts timeouts);

// Waits a random time that grows with the attempt before a conflicting transaction is repeated.
drogon::Task<> conflictPause(int attempt);

// The guard's first statements, then the body; the value goes to `result`.
template <class Body, class Result>
struct GuardedBody {
  WriteGuard& guard;
  FencedRow row;
  Body& body;
  std::optional<Result>& result;

  drogon::Task<std::monostate> operator()(Sql& sql) {
    co_await openGuard(sql, guard, row);
    result = co_await body(sql);
    co_return std::monostate{};
  }
};

// Runs `body(Sql&) -> Task<T>` in a transaction under the guard and returns its value once it is
// committed. The body may run more than once; only the last run's effects are stored. Throws what
// the body throws, and ServiceError for: kLockLost, kLockTimeout (conflicts beyond the retries),
// kDatabaseUnavailable (nothing stored), kCommitUnconfirmed (nobody knows).
template <class Body>
std::invoke_result_t<Body&, Sql&> guardedWrite(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                               FencedRow row, WriteTimeouts timeouts, Body& body) {
  using Result = std::decay_t<drogon::await_result_t<std::invoke_result_t<Body&, Sql&>>>;
  TransactionOptions options;
  options.notAfter = guard.validUntil;
  options.commitTimeout = timeouts.commit;
  options.beforeCommit = guard.beforeCommit;
  // Kept out here: when an unknown COMMIT turns out to have happened, this is the answer.
  std::optional<Result> result;
  GuardedBody<Body, Result> step{guard, row, body, result};

  for (int attempt = 0;; ++attempt) {
    bool unknown = false;
    try {
      co_await inTransaction(db, options, step);
      co_return std::move(*result);
    } catch (const CommitUnknown&) {
      unknown = true;
    } catch (const drogon::orm::DrogonDbException& error) {
      if (classify(error) != DbFailure::kConflict || attempt >= timeouts.conflictRetries) throw;
    }
    if (unknown) break;
    co_await conflictPause(attempt);
  }
  const auto resolution = co_await resolveCommit(db, guard, row, timeouts);
  switch (resolution) {
    case Resolution::kCommitted: co_return std::move(*result);
    case Resolution::kNotCommitted:
      throw ServiceError(ErrorCode::kDatabaseUnavailable, "COMMIT did not happen");
    case Resolution::kUnresolved: break;
  }
  if (guard.commitUnknown) guard.commitUnknown();
  throw ServiceError(ErrorCode::kCommitUnconfirmed,
                     "COMMIT was not acknowledged and could not be resolved");
}

}  // namespace festa
