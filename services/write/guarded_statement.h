// A write that one atomic statement can do, under a WriteGuard: the shortest way to a committed
// effect.
#pragma once

#include "services/write/guarded_write.h"

#include <trantor/utils/Logger.h>

namespace festa {

using SqlClient = drogon::orm::DbClient;  // a transaction is one, too

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
  virtual drogon::Task<StoredRow> look(SqlClient& sql) = 0;
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
drogon::Task<std::optional<T>> attemptStatement(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                                WriteSettings settings, AtomicWrite<T>& write,
                                                const Receipt<T>* receipt) {
  const TransactionOptions options = optionsFor(guard, settings);
  if (receipt != nullptr) {
    auto body = [&](Sql& sql) { return executeWithReceipt(sql, guard, write, *receipt); };
    co_return co_await inTransaction(db, options, body);
  }
  if (auto* const point = testPointOf(guard.observer)) co_await point->beforeCommit();
  const auto connection = co_await takeConnection(db, options);
  co_return co_await acknowledged(write.execute(*connection, guard.fence));
}

// Under a guard of PostgreSQL's own: a transaction in which the guard comes first.
template <class T>
drogon::Task<T> executeGuarded(Sql& sql, const WriteGuard& guard, AtomicWrite<T>& write) {
  auto value = co_await write.execute(sql, guard.fence);
  if (value) co_return std::move(*value);
  co_await write.look(sql);
  throw WriteConflict();
}

// Repeats a read while the database does not answer; nullopt: the lease is over.
template <class Read>
drogon::Task<std::optional<drogon::await_result_t<std::invoke_result_t<Read&>>>> readPatiently(
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
drogon::Task<T> findOut(drogon::orm::DbClientPtr db, WriteGuard& guard, WriteSettings settings,
                        AtomicWrite<T>& write) {
  auto readId = [&] { return write.rowId(*db); };
  auto readBack = [&] { return write.readBack(*db); };
  std::optional<std::int64_t> id;
  // Without a fence the row does not tell which write it carries.
  if (guard.fence) id = co_await readPatiently(guard, readId);
  if (id) {
    const GuardedRow row{write.table(), *id};
    co_await requireCommitted(db, guard, row, settings);
    auto value = co_await readPatiently(guard, readBack);
    if (value && *value) co_return std::move(**value);
  }
  if (guard.observer != nullptr && !id) guard.observer->commitUnknown(Resolution::kUnresolved);
  if (guard.hold != nullptr) guard.hold->leaveToExpire();
  throw ServiceError(ErrorCode::kCommitUnconfirmed, "the answer to a statement was lost");
}

// A way to share the first attempt's transaction with other writes.
template <class T>
class SharedAttempt {
 public:
  virtual ~SharedAttempt() = default;
  // As attemptStatement(): the value is committed; nullopt: nothing was touched. Throws
  // CommitUnknown.
  virtual drogon::Task<std::optional<T>> run() = 0;
};

// Whether a write may share its transaction: a lock with its fence protects it, and nothing else
// has to come first inside the transaction.
inline bool mayShareTransaction(const WriteGuard& guard) {
  return guard.inside == Guard::kNone && guard.fence.has_value();
}

// What became of one attempt.
template <class T>
struct Tried {
  std::optional<T> value = {};
  bool isUnknown = false;
};

template <class T>
drogon::Task<Tried<T>> tried(drogon::Task<std::optional<T>> attempt) {
  Tried<T> end;
  try {
    end.value = co_await attempt;
  } catch (const CommitUnknown&) {
    end.isUnknown = true;
  }
  co_return end;
}

// Under a guard that has to come first inside the transaction, or for a write that is not atomic.
template <class T>
drogon::Task<T> guardedByTransaction(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                     WriteSettings settings, AtomicWrite<T>& write,
                                     const Receipt<T>* receipt) {
  const auto id = co_await write.rowId(*db);
  const GuardedRow row{write.table(), id};
  auto body = [&](Sql& sql) { return executeGuarded(sql, guard, write); };
  co_return co_await guardedWrite(db, guard, row, settings, body, receipt);
}

// Runs the write and returns its value once it is committed. `shared`, if not null, is its first
// attempt when the guard allows it. Throws what look() throws, and what guardedWrite throws.
template <class T>
drogon::Task<T> guardedStatement(drogon::orm::DbClientPtr db, WriteGuard& guard,
                                 WriteSettings settings, AtomicWrite<T>& write,
                                 const Receipt<T>* receipt = nullptr,
                                 SharedAttempt<T>* shared = nullptr) {
  const bool needsNothingFirst = guard.inside == Guard::kNone || guard.inside == Guard::kConstraint;
  if (!needsNothingFirst || !write.isAtomic())
    co_return co_await guardedByTransaction(db, guard, settings, write, receipt);
  if (!mayShareTransaction(guard)) shared = nullptr;
  // Those that hold the key together may overtake each other: the largest token wins each time, so
  // it ends, at the latest with the lease.
  bool isOvertaken = false;
  for (int attempt = 0; attempt < 3 || isOvertaken; ++attempt) {
    auto* const together = std::exchange(shared, nullptr);
    auto trial = together != nullptr ? together->run()
                                     : attemptStatement(db, guard, settings, write, receipt);
    auto end = co_await tried<T>(std::move(trial));
    if (end.value) co_return std::move(*end.value);
    if (end.isUnknown) co_return co_await findOut(db, guard, settings, write);
    // If look() finds no rule against the write, it waited for a writer that rolled back, or
    // the row carries a later token.
    const StoredRow stored = co_await write.look(*db);
    isOvertaken = co_await overtakeIfBehind(guard, stored.fence);
    if (attempt > 1) co_await conflictPause(attempt);
  }
  throw ServiceError(ErrorCode::kLockTimeout, "the row kept changing, or stayed locked");
}

}  // namespace festa
