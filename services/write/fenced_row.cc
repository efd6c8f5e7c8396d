#include "services/write/fenced_row.h"

namespace festa {

GuardedTable guardedTable(const std::string& name, ErrorCode missing, const std::string& prefix) {
  const std::string fence = prefix + "fence";
  const std::string version = prefix + "version";
  return {
      "UPDATE " + name + " SET " + fence + " = $1 WHERE id = $2 AND " + fence +
          " < $1 RETURNING id",
      "SELECT " + fence + " FROM " + name + " WHERE id = $1",
      "SELECT " + fence + " FROM " + name + " WHERE id = $1 FOR UPDATE",
      "SELECT id FROM " + name + " WHERE id = $1 FOR NO KEY UPDATE",
      "SELECT " + version + " FROM " + name + " WHERE id = $1",
      "UPDATE " + name + " SET " + version + " = " + version + " + 1 WHERE " + version +
          " = $1 AND id = $2 RETURNING id",
      missing,
  };
}

drogon::Task<> renewFenceAbove(WriteGuard& guard, std::int64_t stored) {
  if (guard.observer != nullptr && stored > *guard.fence) guard.observer->fenceRefused();
  const auto renewed = co_await guard.hold->renewFence(stored);
  if (!renewed) throw ServiceError(ErrorCode::kLockLost, "the row carries a later fence than ours");
  guard.fence = *renewed;
  if (guard.observer != nullptr) guard.observer->fenceRenewed();
}

drogon::Task<bool> renewFenceIfStale(WriteGuard& guard, std::int64_t stored) {
  const bool isBehind = guard.fence && stored >= *guard.fence;
  if (isBehind) co_await renewFenceAbove(guard, stored);
  co_return isBehind;
}

drogon::Task<> RowGuard::open(Sql& sql) {
  switch (guard_.inside) {
    case Guard::kNone:
    case Guard::kConstraint: break;
    case Guard::kRepeatableRead:
      co_await sql.execSqlCoro("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      break;
    case Guard::kSerializable:
      co_await sql.execSqlCoro("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
      break;
    case Guard::kRowLock: co_await lockRow(sql); break;
    case Guard::kAdvisory: co_await lockKey(sql); break;
    case Guard::kVersion: co_await readVersion(sql); break;
  }
  if (guard_.fence) co_await raiseFence(sql);
}

drogon::Task<> RowGuard::close(Sql& sql) const {
  if (guard_.inside != Guard::kVersion) co_return;
  const auto counted = co_await sql.execSqlCoro(row_.table.bumpVersion, version_, row_.id);
  if (counted.empty()) throw WriteConflict();
}

// The connection's time-outs are for statements that need not wait; here waiting is the point.
drogon::Task<> RowGuard::waitLongerForLocks(Sql& sql) const {
  const auto wait = std::to_string(guard_.lockWait.count());
  co_await sql.execSqlCoro(
      "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $1, true)",
      wait);
}

drogon::Task<> RowGuard::lockRow(Sql& sql) const {
  co_await waitLongerForLocks(sql);
  const auto locked = co_await sql.execSqlCoro(row_.table.lock, row_.id);
  if (locked.empty()) throw ServiceError(row_.table.missing);
}

drogon::Task<> RowGuard::lockKey(Sql& sql) const {
  co_await waitLongerForLocks(sql);
  co_await sql.execSqlCoro(
      "SELECT pg_advisory_xact_lock(hashtextextended('festabook:' || $1::text, 0))", guard_.key);
}

drogon::Task<> RowGuard::readVersion(Sql& sql) {
  const auto rows = co_await sql.execSqlCoro(row_.table.readVersion, row_.id);
  if (rows.empty()) throw ServiceError(row_.table.missing);
  version_ = rows[0][0].as<std::int64_t>();
}

drogon::Task<> RowGuard::raiseFence(Sql& sql) const {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto raised = co_await sql.execSqlCoro(row_.table.raiseFence, *guard_.fence, row_.id);
    if (!raised.empty()) co_return;
    const auto stored = co_await sql.execSqlCoro(row_.table.readFence, row_.id);
    if (stored.empty()) throw ServiceError(row_.table.missing);
    co_await renewFenceAbove(guard_, stored[0][0].as<std::int64_t>());
  }
  throw ServiceError(ErrorCode::kLockLost, "the row carries a later fence than ours");
}

}  // namespace festa
