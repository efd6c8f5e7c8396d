#include "services/write/receipt.h"

#include "services/error.h"

namespace festa {

void KeyParameters::add(const IdempotencyAttempt* attempt) {
  if (attempt == nullptr) {
    for (auto* const array : {&realms, &uids, &keys, &owners}) array->addNull();
    return;
  }
  realms.add(attempt->realm);
  uids.add(attempt->uid);
  keys.add(attempt->key);
  owners.add(attempt->owner);
}

std::string ownsKeyJoin(const std::string& members) {
  return " CROSS JOIN LATERAL (SELECT 1 WHERE " + members +
         ".key IS NULL UNION ALL SELECT 1 FROM (SELECT 1 FROM idempotency_keys k WHERE k.realm = " +
         members + ".realm AND k.uid = " + members + ".owner_uid AND k.key = " + members +
         ".key AND k.owner = " + members +
         ".owner AND k.status IS NULL FOR NO KEY UPDATE SKIP LOCKED) own) k";
}

void KeptAnswers::add(const IdempotencyAttempt& attempt, const KeptAnswer& answer) {
  keys_.add(&attempt);
  statuses_.add(answer.status);
  bodies_.add(answer.body);
  locations_.add(answer.location);
  ++count_;
}

drogon::Task<> KeptAnswers::store(Sql& sql) {
  if (count_ == 0) co_return;
  const auto stored = co_await sql.execSqlCoro(
      "UPDATE idempotency_keys k SET status = m.status, body = m.body, location = m.location"
      " FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[],"
      " $7::text[]) AS m (realm, uid, key, owner, status, body, location)"
      " WHERE k.realm = m.realm AND k.uid = m.uid AND k.key = m.key AND k.owner = m.owner"
      " AND k.status IS NULL RETURNING 1",
      keys_.realms.take(), keys_.uids.take(), keys_.keys.take(), keys_.owners.take(),
      statuses_.take(), bodies_.take(), locations_.take());
  if (stored.size() != count_)
    throw ServiceError(ErrorCode::kRequestInProgress, "an idempotency attempt was taken over");
}

}  // namespace festa
