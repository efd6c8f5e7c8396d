#include "services/write/guarded_write.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>
#include <random>

namespace festa {

namespace {

drogon::Task<> pause(std::chrono::duration<double> time) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  co_await drogon::sleepCoro(loop, time);
}

}  // namespace

drogon::Task<> conflictPause(int attempt) {
  thread_local std::mt19937 random{std::random_device{}()};
  const double ceiling = 0.002 * static_cast<double>(1 << std::min(attempt, 6));
  co_await pause(
      std::chrono::duration<double>(std::uniform_real_distribution<>(0, ceiling)(random)));
}

TransactionOptions optionsFor(const WriteGuard& guard, const WriteSettings& settings) {
  TransactionOptions options;
  options.deadline = guard.hold;
  options.observer = guard.observer;
  options.commitTimeout = settings.commitTimeout;
  options.explicitCommit = guard.inside == Guard::kSerializable;
  return options;
}

namespace {

// Asks the row once after an unknown COMMIT. Its row lock is granted only when the lost backend
// is done with it.
struct CommitProbe {
  WriteGuard& guard;
  GuardedRow row;

  drogon::Task<Resolution> operator()(Sql& sql) {
    const auto stored = co_await sql.execSqlCoro(row.table.lockFence, row.id);
    if (stored.empty()) throw ServiceError(row.table.missing);
    const auto fence = stored[0][0].template as<std::int64_t>();
    if (fence == *guard.fence) {
      // A lock storage that lost its memory may have given our token to another holder. Only a
      // request that still holds the lock knows that the stored token is its own.
      const auto ours = co_await guard.hold->renewFence(fence);
      co_return ours ? Resolution::kCommitted : Resolution::kUnresolved;
    }
    // A successor has written: our COMMIT may have come before it or never.
    if (fence > *guard.fence) co_return Resolution::kUnresolved;
    const auto renewed = co_await guard.hold->renewFence(*guard.fence);
    if (!renewed)
      throw ServiceError(ErrorCode::kLockLost, "the lock was lost while COMMIT was unknown");
    co_await sql.execSqlCoro(row.table.raiseFence, *renewed, row.id);
    co_return Resolution::kNotCommitted;
  }
};

}  // namespace

drogon::Task<Resolution> resolveCommit(const Database& database, WriteGuard& guard,
                                       GuardedRow row) {
  if (!guard.fence) co_return Resolution::kUnresolved;
  CommitProbe probe{guard, row};
  TransactionOptions options;
  options.deadline = guard.hold;
  options.commitTimeout = database.settings.commitTimeout;
  const auto leaseEnd = guard.validUntil();
  while (std::chrono::steady_clock::now() < std::min(leaseEnd, guard.validUntil())) {
    try {
      co_return co_await inTransaction(database.client(), options, probe);
    } catch (const std::exception& error) {
      LOG_INFO << "unknown COMMIT not resolved yet: " << error.what();
    }
    co_await pause(std::chrono::milliseconds(50));
  }
  co_return Resolution::kUnresolved;
}

drogon::Task<> requireCommitted(const Database& database, WriteGuard& guard, GuardedRow row) {
  const auto resolution = co_await resolveCommit(database, guard, row);
  if (guard.observer != nullptr) guard.observer->commitUnknown(resolution);
  switch (resolution) {
    case Resolution::kCommitted: co_return;
    case Resolution::kNotCommitted:
      throw ServiceError(ErrorCode::kDatabaseUnavailable, "COMMIT did not happen");
    case Resolution::kUnresolved: break;
  }
  if (guard.hold != nullptr) guard.hold->leaveToExpire();
  throw ServiceError(ErrorCode::kCommitUnconfirmed,
                     "COMMIT was not acknowledged and could not be resolved");
}

}  // namespace festa
