// PostgreSQL's own ways to protect a write to a parent row and what hangs on it.
#pragma once

#include "services/error.h"
#include "services/write/transaction.h"

#include <string>

namespace festa {

// The statements that a guarded table needs. Parameters end with the row's id.
struct GuardedTable {
  std::string raiseFence;   // ($1 token, $2 id): to the token if it is above; returns the row then
  std::string readFence;    // ($1 id)
  std::string lockFence;    // ($1 id): the same, after waiting for the row's lock
  std::string lock;         // ($1 id): the row lock of pg-row
  std::string readVersion;  // ($1 id)
  std::string bumpVersion;  // ($1 version read, $2 id): returns the row if it still has it
  ErrorCode missing;        // when there is no such row
};

// For a table with id, fence and version. `prefix`: of the names of the latter two, where a row
// guards several things that are locked by keys of their own.
GuardedTable guardedTable(const std::string& name, ErrorCode missing,
                          const std::string& prefix = "");

struct GuardedRow {
  const GuardedTable& table;
  std::int64_t id;
};

// A concurrent writer came first; the transaction may be repeated from its start.
class WriteConflict : public std::runtime_error {
 public:
  WriteConflict() : std::runtime_error("a concurrent writer came first") {}
};

// Takes a larger token from the lock for a row that carries one which is not below ours: our own
// earlier write under this hold, or a row written under another storage. Throws
// ServiceError(kLockLost).
drogon::Task<> renewFenceAbove(WriteGuard& guard, std::int64_t stored);
// The same if the guard has a token and the row's is not below it. True: it was so.
drogon::Task<bool> renewFenceIfStale(WriteGuard& guard, std::int64_t stored);

// One attempt's protection inside its transaction: open() before the body, close() after it.
class RowGuard {
 public:
  RowGuard(WriteGuard& guard, GuardedRow row) : guard_(guard), row_(row) {}

  // Isolation level, row or advisory lock, or the version to compare later; then the fence, if the
  // guard has one. Every way makes the later statements of a READ COMMITTED transaction see what
  // the predecessor committed. Throws ServiceError: the table's `missing`, kLockLost.
  drogon::Task<> open(Sql& sql);

  // Throws WriteConflict when the version has changed since open().
  drogon::Task<> close(Sql& sql) const;

 private:
  drogon::Task<> waitLongerForLocks(Sql& sql) const;
  drogon::Task<> lockRow(Sql& sql) const;
  drogon::Task<> lockKey(Sql& sql) const;
  drogon::Task<> readVersion(Sql& sql);
  // Claims the row for the guard's token, or for a larger one if the row's is not below it.
  drogon::Task<> raiseFence(Sql& sql) const;

  WriteGuard& guard_;
  const GuardedRow row_;
  std::int64_t version_ = 0;
};

}  // namespace festa
