#include "services/row_guard.h"

#include "services/error.h"

namespace festa {

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
  const auto counted = co_await sql.execSqlCoro(row_.table.countUp, version_, row_.id);
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
    const auto later = stored[0][0].as<std::int64_t>();
    if (guard_.observer && later > *guard_.fence) guard_.observer->fenceRefused();
    const auto renewed = co_await guard_.renewFence(later);
    if (!renewed) break;
    guard_.fence = *renewed;
    if (guard_.observer) guard_.observer->fenceRenewed();
  }
  throw ServiceError(ErrorCode::kLockLost, "the row carries a later fence than ours");
}

}  // namespace festa
