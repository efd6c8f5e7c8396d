// A write under a WriteGuard: the guard comes first, an unknown COMMIT is resolved, conflicts are
// repeated. guardedWrite() runs any body in a transaction; guardedStatement() is for what one
// atomic statement can do, the shortest way to a committed effect.
#pragma once

#include "services/write/database.h"
#include "services/write/fenced_row.h"

#include <trantor/utils/Logger.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

namespace festa {

// After an unknown COMMIT under guard.fence: waits on another connection for the lost backend to
// finish and looks whether the row carries our token. If not, the fence is raised so that the lost
// transaction can never commit. Tries until the lease ends, renewals from now on not counted: the
// client waits. kUnresolved at once for guards without fence.
drogon::Task<Resolution> resolveCommit(const Database& database, WriteGuard& guard, GuardedRow row);

// resolveCommit as the end of a write: returns when it is committed after all. Throws
// ServiceError(kDatabaseUnavailable) when it never will be. Throws kCommitUnconfirmed when the
// outcome stays unknown; the lock is then left to expire.
drogon::Task<> requireCommitted(const Database& database, WriteGuard& guard, GuardedRow row);

// Statements of the longest attempt besides BEGIN, for which PostgreSQL waits for nothing, and
// COMMIT: the fence, a look at the stored one, the fence again with a renewed token, three
// statements of a question or an event date, the answer for an Idempotency-Key. A sale and a grant
// have two, the statement and the answer, shared or alone.
// tests/services/write/longest_attempt_test.cc counts them.
constexpr std::int64_t kLongestAttemptStatements = 7;

// An attempt waits once for a connection, sends its statements and commits. A lease must outlast
// that. What may come after an attempt is not counted, and is begun only while the lease lasts: an
// attempt alone after a shared one, a shared one that is sent again, a repetition after a conflict,
// the look at an unknown COMMIT. Neither is a shared attempt's wait for the batches before it: one
// whose lease is over by then is not sent.
constexpr std::chrono::milliseconds longestAttempt(std::chrono::milliseconds poolTimeout,
                                                   std::chrono::milliseconds statementTimeout,
                                                   std::chrono::milliseconds commitTimeout) {
  return poolTimeout + kLongestAttemptStatements * statementTimeout + commitTimeout;
}

// Waits a random time that grows with the attempt before a conflicting transaction is repeated.
drogon::Task<> conflictPause(int attempt);

TransactionOptions optionsFor(const WriteGuard& guard, const WriteSettings& settings);

// One attempt: RowGuard::open(), the body with its receipt, RowGuard::close(). The body's value is
// stored in `result`.
template <class Body>
struct GuardedBody {
  WriteGuard& guard;
  GuardedRow row;
  BodyWithReceipt<Body> body;
  std::optional<WrittenBy<Body>>& result;

  drogon::Task<std::monostate> operator()(Sql& sql) {
    RowGuard rowGuard(guard, row);
    co_await rowGuard.open(sql);
    result = co_await body(sql);
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
drogon::Task<WrittenBy<Body>> guardedWrite(const Database& database, WriteGuard& guard,
                                           GuardedRow row, Body& body,
                                           const Receipt<WrittenBy<Body>>* receipt = nullptr) {
  const TransactionOptions options = optionsFor(guard, database.settings);
  // Kept out here: when an unknown COMMIT turns out to have happened, this is the answer.
  std::optional<WrittenBy<Body>> result;
  GuardedBody<Body> step{guard, row, {body, receipt}, result};
  for (int attempt = 0;; ++attempt) {
    const bool mayRepeat = attempt < database.settings.conflictRetries;
    const auto end = co_await attemptWrite(database.client(), options, step, mayRepeat);
    if (end == Attempt::kUnknown) co_await requireCommitted(database, guard, row);
    if (end != Attempt::kConflict) co_return std::move(*result);
    if (guard.observer != nullptr) guard.observer->conflictRepeated();
    co_await conflictPause(attempt);
  }
}

// The state of the row that execute() did not change.
struct StoredRow {
  std::int64_t id;
  std::int64_t fence;
};

// One write to one guarded row. Everything that execute() decides on is in that row, or never
// changes: what it waited for is seen by it. Used by one coroutine at a time.
template <class T>
class AtomicWrite {
 public:
  virtual ~AtomicWrite() = default;

  virtual const GuardedTable& table() const = 0;
  // False: execute() takes several statements, so that it needs a transaction and something in it
  // or around it that keeps other writers away.
  virtual bool isAtomic() const { return true; }
  // The one statement. With a fence only above the row's, which it then stores. Nullopt: it touched
  // nothing.
  virtual drogon::Task<std::optional<T>> execute(SqlClient& sql,
                                                 std::optional<std::int64_t> fence) = 0;
  // Why execute() changed nothing: throws the ServiceError of the rule that forbids the write, else
  // returns the row's state.
  virtual drogon::Task<StoredRow> explainRefusal(SqlClient& sql) = 0;
  virtual drogon::Task<std::int64_t> rowId(SqlClient& sql) = 0;
  // What an execute() whose answer was lost has stored; nullopt: it was deleted since.
  virtual drogon::Task<std::optional<T>> readBack(SqlClient& sql) = 0;
};

template <class T>
drogon::Task<std::optional<T>> executeWithReceipt(Sql& sql, const WriteGuard& guard,
                                                  AtomicWrite<T>& write,
                                                  const Receipt<T>& receipt) {
  auto value = co_await write.execute(sql, guard.fence);
  if (value) co_await receipt.keep(sql, *value);
  co_return value;
}

// One attempt. Without a receipt it is a statement of its own, sent on a connection that is free
// and before the lease ends. Throws CommitUnknown when the acknowledgement was lost.
template <class T>
drogon::Task<std::optional<T>> attemptStatement(const Database& database, const WriteGuard& guard,
                                                AtomicWrite<T>& write, const Receipt<T>* receipt) {
  const TransactionOptions options = optionsFor(guard, database.settings);
  if (receipt != nullptr) {
    auto body = [&](Sql& sql) { return executeWithReceipt(sql, guard, write, *receipt); };
    co_return co_await inTransaction(database.client(), options, body);
  }
  auto statement = [&](Sql& sql) { return write.execute(sql, guard.fence); };
  co_return co_await committedByItself(database.client(), options, statement);
}

// Under a guard of PostgreSQL's own: a transaction in which the guard comes first.
template <class T>
drogon::Task<T> executeGuarded(Sql& sql, const WriteGuard& guard, AtomicWrite<T>& write) {
  auto value = co_await write.execute(sql, guard.fence);
  if (value) co_return std::move(*value);
  co_await write.explainRefusal(sql);
  throw WriteConflict();
}

// Repeats a read while the database does not answer; nullopt: the lease is over.
template <class Read>
drogon::Task<std::optional<drogon::await_result_t<std::invoke_result_t<Read&>>>> readUntilLeaseEnds(
    const WriteGuard& guard, Read& read) {
  const auto leaseEnd = guard.validUntil();
  for (int attempt = 0; std::chrono::steady_clock::now() < leaseEnd; ++attempt) {
    try {
      co_return co_await read();
    } catch (const drogon::orm::DrogonDbException& error) {
      // The read failed. Its error says nothing about the write.
      LOG_INFO << "the outcome of a lost answer is not known yet: " << error.base().what();
    }
    co_await conflictPause(attempt);
  }
  co_return std::nullopt;
}

// What became of a statement whose answer was lost: its value, or the errors of requireCommitted.
template <class T>
drogon::Task<T> resolveLostAnswer(const Database& database, WriteGuard& guard,
                                  AtomicWrite<T>& write) {
  const auto db = database.client();
  auto readId = [&] { return write.rowId(*db); };
  auto readBack = [&] { return write.readBack(*db); };
  std::optional<std::int64_t> id;
  // Without a fence the row does not tell which write it carries.
  if (guard.fence) id = co_await readUntilLeaseEnds(guard, readId);
  if (id) {
    const GuardedRow row{write.table(), *id};
    co_await requireCommitted(database, guard, row);
    auto value = co_await readUntilLeaseEnds(guard, readBack);
    if (value && *value) co_return std::move(**value);
  }
  if (guard.observer != nullptr && !id) guard.observer->commitUnknown(Resolution::kUnresolved);
  if (guard.hold != nullptr) guard.hold->leaveToExpire();
  throw ServiceError(ErrorCode::kCommitUnconfirmed, "the answer to a statement was lost");
}

// Whether a write may share its transaction with others: a lock with its fence protects it, nothing
// else has to come first inside the transaction, and its receipt, if any, can be kept together with
// theirs. The one place that decides this; how many do share one is decided by who brings them
// together (SaleBatches, SharedGrant).
template <class T>
bool mayShareTransaction(const WriteGuard& guard, const Receipt<T>* receipt) {
  return guard.inside == Guard::kNone && guard.fence.has_value() &&
         (receipt == nullptr || receipt->attempt() != nullptr);
}

template <class T>
struct AttemptResult {
  std::optional<T> value = {};
  bool isUnknown = false;
};

// What became of one attempt.
template <class T>
drogon::Task<AttemptResult<T>> resultOf(drogon::Task<std::optional<T>> attempt) {
  AttemptResult<T> result;
  try {
    result.value = co_await attempt;
  } catch (const CommitUnknown&) {
    result.isUnknown = true;
  }
  co_return result;
}

// Under a guard that has to come first inside the transaction, or for a write that is not atomic.
template <class T>
drogon::Task<T> guardedByTransaction(const Database& database, WriteGuard& guard,
                                     AtomicWrite<T>& write, const Receipt<T>* receipt) {
  const auto id = co_await write.rowId(*database.client());
  const GuardedRow row{write.table(), id};
  auto body = [&](Sql& sql) { return executeGuarded(sql, guard, write); };
  co_return co_await guardedWrite(database, guard, row, body, receipt);
}

// Runs the write and returns its value once it is committed. `shared() -> Task<std::optional<T>>`
// is its first attempt when it may share its transaction, with the outcomes of attemptStatement().
// Throws what explainRefusal() throws, and what guardedWrite throws.
template <class T, class Shared>
drogon::Task<T> guardedStatement(const Database& database, WriteGuard& guard, AtomicWrite<T>& write,
                                 const Receipt<T>* receipt, Shared& shared) {
  const bool needsNothingFirst = guard.inside == Guard::kNone || guard.inside == Guard::kConstraint;
  if (!needsNothingFirst || !write.isAtomic())
    co_return co_await guardedByTransaction(database, guard, write, receipt);
  bool isShared = mayShareTransaction(guard, receipt);
  // Those that hold the key together may have tokens above ours: the largest token wins each time,
  // so it ends, at the latest with the lease.
  bool isStale = false;
  for (int attempt = 0; attempt < 3 || isStale; ++attempt) {
    auto trial = isShared ? shared() : attemptStatement(database, guard, write, receipt);
    isShared = false;
    auto end = co_await resultOf<T>(std::move(trial));
    if (end.value) co_return std::move(*end.value);
    if (end.isUnknown) co_return co_await resolveLostAnswer(database, guard, write);
    // If there is no rule against the write, it waited for a writer that rolled back, or the row
    // carries a later token.
    const StoredRow stored = co_await write.explainRefusal(*database.client());
    isStale = co_await renewFenceIfStale(guard, stored.fence);
    if (attempt > 1) co_await conflictPause(attempt);
  }
  throw ServiceError(ErrorCode::kLockTimeout, "the row kept changing, or stayed locked");
}

}  // namespace festa
