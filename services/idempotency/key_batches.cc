#include "services/idempotency/key_batches.h"

#include "services/write/sql_array.h"

#include <algorithm>

namespace festa {

namespace {

// Keys that exist are left out before the insert, which would wait for those that are not committed
// yet. The conditions on `m` keep PostgreSQL's estimate of its rows low, so that the plan looks
// keys up by their index.
constexpr const char* kInsert =
    "WITH m AS (SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])"
    " WITH ORDINALITY AS m (realm, uid, key, owner, fingerprint, n) WHERE n > 0 AND uid > 0),"
    " fresh AS (SELECT m.* FROM m LEFT JOIN LATERAL (SELECT 1 AS had FROM idempotency_keys k"
    " WHERE k.realm = m.realm AND k.uid = m.uid AND k.key = m.key LIMIT 1) o ON true"
    " WHERE o.had IS NULL)"
    " INSERT INTO idempotency_keys (realm, uid, key, fingerprint, owner, expires_at)"
    " SELECT realm, uid, key, fingerprint, owner, now() + $6::bigint * interval '1 millisecond'"
    " FROM fresh ON CONFLICT DO NOTHING RETURNING owner";

drogon::Task<drogon::orm::Result> insertIn(Sql& sql, const std::vector<KeyMember*>& batch,
                                           std::chrono::milliseconds attemptTime) {
  KeyParameters keys;
  SqlArray fingerprints;
  for (const auto* const member : batch) {
    keys.add(&member->attempt);
    fingerprints.add(member->fingerprint);
  }
  const std::int64_t milliseconds = attemptTime.count();
  co_return co_await sql.execSqlCoro(kInsert, keys.realms.take(), keys.uids.take(),
                                     keys.keys.take(), keys.owners.take(), fingerprints.take(),
                                     milliseconds);
}

drogon::Task<> insert(const Database& database, std::vector<KeyMember*> batch,
                      std::chrono::milliseconds attemptTime) {
  // In one order everywhere: batches with the same keys must not wait for each other.
  std::sort(batch.begin(), batch.end(),
            [](const KeyMember* a, const KeyMember* b) { return a->name < b->name; });
  auto statement = [&](Sql& sql) { return insertIn(sql, batch, attemptTime); };
  const TransactionOptions unguarded;
  const auto rows = co_await committedByItself(database.batchClient(), unguarded, statement);
  // Owners are unique. They are few, and mostly returned in the order of the batch.
  std::size_t at = 0;
  for (const auto& row : rows) {
    const auto owner = row[0].as<std::string>();
    for (std::size_t looked = 0; looked < batch.size(); ++looked, at = (at + 1) % batch.size()) {
      if (batch[at]->attempt.owner != owner) continue;
      batch[at]->taken = KeyTaken::kYes;
      break;
    }
  }
}

}  // namespace

drogon::Task<KeyTaken> KeyBatches::take(const IdempotencyAttempt& attempt,
                                        const std::string& fingerprint) {
  KeyMember member(attempt, fingerprint);
  co_await join(member);
  co_return member.taken;
}

drogon::Task<> KeyBatches::write(std::vector<KeyMember*> batch) {
  const auto end = co_await outcomeOf(insert(database_, batch, attemptTime_));
  if (!end.isUnknown) co_return;
  for (auto* const member : batch) member->taken = KeyTaken::kUnknown;
}

}  // namespace festa
