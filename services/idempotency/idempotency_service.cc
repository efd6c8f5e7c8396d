#include "services/idempotency/idempotency_service.h"

#include <trantor/utils/Logger.h>

namespace festa {

namespace {

constexpr std::int64_t kSweptAtOnce = 1000;
constexpr std::chrono::milliseconds kPause(20);

std::int64_t milliseconds(std::chrono::milliseconds time) {
  return time.count();
}

drogon::Task<drogon::orm::Result> insertIn(Sql& sql, const IdempotencyAttempt& attempt,
                                           const std::string& fingerprint,
                                           const IdempotencySettings& settings) {
  const auto attemptTime = milliseconds(settings.attemptTime);
  const auto keep = milliseconds(settings.keep);
  co_return co_await sql.execSqlCoro(
      "INSERT INTO idempotency_keys AS k (realm, uid, key, fingerprint, owner, expires_at)"
      " VALUES ($1, $2, $3, $4, $5, now() + $6::bigint * interval '1 millisecond')"
      " ON CONFLICT (realm, uid, key) DO UPDATE SET fingerprint = excluded.fingerprint,"
      " owner = excluded.owner, expires_at = excluded.expires_at, created_at = now(),"
      " status = NULL, body = NULL, location = NULL"
      " WHERE k.status IS NULL AND k.expires_at <= now() AND k.fingerprint = excluded.fingerprint"
      " OR k.created_at < now() - $7::bigint * interval '1 millisecond' RETURNING 1",
      attempt.realm, attempt.uid, attempt.key, fingerprint, attempt.owner, attemptTime, keep);
}

}  // namespace

drogon::Task<IdempotencyService::Found> IdempotencyService::take(IdempotencyAttempt attempt,
                                                                 std::string fingerprint) const {
  auto shared = KeyTaken::kNo;
  if (batches_ != nullptr && batches_->areShared())
    shared = co_await batches_->take(attempt, fingerprint);
  if (shared == KeyTaken::kYes) co_return Found{State::kTaken};
  if (shared == KeyTaken::kNo) {
    try {
      const auto found = co_await takeUnlessLocked(attempt, fingerprint);
      // Locked: the effect of another attempt is about to end.
      co_return found.value_or(Found{State::kRunning});
    } catch (const CommitUnknown&) {
      // It may have taken the key.
    }
  }
  co_return co_await findWhatWasLost(attempt, fingerprint);
}

drogon::Task<IdempotencyService::Found> IdempotencyService::findWhatWasLost(
    const IdempotencyAttempt& attempt, const std::string& fingerprint) const {
  const auto deadline = std::chrono::steady_clock::now() + settings_.lostTime;
  while (true) {
    // Our own lost statement still runs: its row is there, and not visible yet.
    auto why = std::make_exception_ptr(
        ServiceError(ErrorCode::kDatabaseUnavailable, "a lost statement did not end"));
    // What ended the first connection may end further ones, and says nothing about the key.
    try {
      const auto found = co_await takeUnlessLocked(attempt, fingerprint);
      if (found) co_return *found;
    } catch (const CommitUnknown&) {
      // Another statement was lost.
    } catch (const ServiceError&) {
      why = std::current_exception();
    } catch (const drogon::orm::DrogonDbException& error) {
      if (classify(error) == DbFailure::kOther) throw;
      why = std::current_exception();
    }
    if (std::chrono::steady_clock::now() >= deadline) std::rethrow_exception(why);
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), kPause);
  }
}

drogon::Task<std::optional<IdempotencyService::Found>> IdempotencyService::takeUnlessLocked(
    const IdempotencyAttempt& attempt, const std::string& fingerprint) const {
  try {
    co_return co_await takeOrLook(attempt, fingerprint);
  } catch (const drogon::orm::DrogonDbException& error) {
    const auto failure = classify(error);
    if (failure != DbFailure::kTimedOut && failure != DbFailure::kLockTimedOut) throw;
  }
  co_return co_await look(attempt, fingerprint);
}

drogon::Task<bool> IdempotencyService::insert(const IdempotencyAttempt& attempt,
                                              const std::string& fingerprint) const {
  auto statement = [&](Sql& sql) { return insertIn(sql, attempt, fingerprint, settings_); };
  const TransactionOptions unguarded;
  const auto rows = co_await committedByItself(database_.client(), unguarded, statement);
  co_return !rows.empty();
}

drogon::Task<IdempotencyService::Found> IdempotencyService::takeOrLook(
    const IdempotencyAttempt& attempt, const std::string& fingerprint) const {
  // Twice: between the two statements the other attempt may have given up.
  for (int round = 0; round < 2; ++round) {
    const bool isTaken = co_await insert(attempt, fingerprint);
    if (isTaken) co_return Found{State::kTaken};
    const auto found = co_await look(attempt, fingerprint);
    if (found) co_return *found;
  }
  co_return Found{State::kRunning};
}

drogon::Task<std::optional<IdempotencyService::Found>> IdempotencyService::look(
    const IdempotencyAttempt& attempt, const std::string& fingerprint) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT fingerprint = $4, status, body, location, owner = $5 FROM idempotency_keys"
      " WHERE realm = $1 AND uid = $2 AND key = $3",
      attempt.realm, attempt.uid, attempt.key, fingerprint, attempt.owner);
  if (rows.empty()) co_return std::nullopt;
  const auto row = rows[0];
  if (!row[0].as<bool>()) co_return Found{State::kReused};
  // The key was taken by this attempt: the acknowledgement of the statement that took it was lost.
  if (row[1].isNull() && row[4].as<bool>()) co_return Found{State::kTaken};
  if (row[1].isNull()) co_return Found{State::kRunning};
  co_return Found{State::kDone,
                  {row[1].as<std::int32_t>(), row[2].as<std::string>(),
                   row[3].isNull() ? "" : row[3].as<std::string>()}};
}

drogon::Task<std::optional<KeptAnswer>> IdempotencyService::find(IdempotencyAttempt attempt,
                                                                 std::string fingerprint) const {
  const auto found = co_await look(attempt, fingerprint);
  if (!found || found->state != State::kDone) co_return std::nullopt;
  co_return found->answer;
}

drogon::Task<> IdempotencyService::giveUp(IdempotencyAttempt attempt) const {
  try {
    co_await database_.client()->execSqlCoro(
        "DELETE FROM idempotency_keys WHERE realm = $1 AND uid = $2 AND key = $3 AND owner = $4"
        " AND status IS NULL",
        attempt.realm, attempt.uid, attempt.key, attempt.owner);
  } catch (const drogon::orm::DrogonDbException& error) {
    LOG_WARN << "an idempotency key was left to expire: " << error.base().what();
  }
}

drogon::Task<std::size_t> IdempotencyService::sweep() const {
  const auto keep = milliseconds(settings_.keep);
  std::size_t swept = 0;
  std::size_t batch = kSweptAtOnce;
  while (batch == kSweptAtOnce) {
    const auto rows = co_await database_.client()->execSqlCoro(
        "DELETE FROM idempotency_keys WHERE (realm, uid, key) IN (SELECT realm, uid, key FROM"
        " idempotency_keys WHERE created_at < now() - $1::bigint * interval '1 millisecond'"
        " ORDER BY created_at LIMIT $2) RETURNING 1",
        keep, kSweptAtOnce);
    batch = rows.size();
    swept += batch;
  }
  co_return swept;
}

drogon::Task<> keepAnswer(Sql& sql, IdempotencyAttempt attempt, KeptAnswer answer) {
  const auto kept = co_await sql.execSqlCoro(
      "UPDATE idempotency_keys SET status = $1, body = $2, location = $3"
      " WHERE realm = $4 AND uid = $5 AND key = $6 AND owner = $7 AND status IS NULL RETURNING 1",
      answer.status, answer.body, answer.location, attempt.realm, attempt.uid, attempt.key,
      attempt.owner);
  if (kept.empty())
    throw ServiceError(ErrorCode::kRequestInProgress, "the idempotency attempt was taken over");
}

}  // namespace festa
