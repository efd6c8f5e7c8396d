#include "services/coupons/shared_grant.h"

#include "services/write/sql_array.h"

#include <algorithm>

namespace festa {

struct SharedGrant::Member {
  Member(const CouponGrant& to, WriteGuard& by, const Receipt<CouponClaim>* kept)
      : grant(to), guard(by), receipt(kept) {}

  const CouponGrant& grant;
  WriteGuard& guard;
  const Receipt<CouponClaim>* const receipt;
  SharedResult<CouponClaim> result = {};
};

namespace {

// $1 coupon, $2 fence, $3 users in the order of arrival. One row per user, unless the coupon does
// not exist or carries a later fence: place, claim, sequence, what remains, and why there is no
// claim. A user that stands in the batch twice, one whose key is not its own and one whose row is
// locked get no reason: they go alone. The lock on the user is the one that the check of the
// foreign key takes; that check would wait for it.
std::string sharedGrantStatement(bool keyed) {
  const std::string arrays =
      keyed ? "$3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::text[]" : "$3::bigint[]";
  const std::string columns = keyed ? "uid, realm, owner_uid, key, owner" : "uid";
  const std::string ownsKey = keyed ? ownsKeyJoin("seen") : "";
  return "WITH c AS (SELECT remaining, granted, one_per_user FROM coupons"
         " WHERE id = $1 AND fence < $2 FOR NO KEY UPDATE),"
         " m AS (SELECT m.*, row_number() OVER (PARTITION BY m.uid ORDER BY m.n) AS nth FROM "
         "unnest(" +
         arrays + ") WITH ORDINALITY AS m (" + columns +
         ", n) WHERE n > 0 AND uid > 0),"
         " seen AS (SELECT m.*, u.id IS NOT NULL AS ready, earlier.had IS NOT NULL AS had,"
         " u.id IS NULL AND NOT EXISTS (SELECT 1 FROM users WHERE id = m.uid) AS unknown"
         " FROM c CROSS JOIN m"
         " LEFT JOIN LATERAL (SELECT id FROM users WHERE id = m.uid"
         "  FOR KEY SHARE SKIP LOCKED) u ON true"
         " LEFT JOIN LATERAL (SELECT 1 AS had FROM coupon_claims q WHERE q.coupon_id = $1"
         "  AND q.user_id = m.uid AND q.state <> 'FAILED' AND q.one_per_user AND NOT q.unguarded"
         "  LIMIT 1) earlier ON c.one_per_user),"
         " ok AS (SELECT seen.n, seen.uid, row_number() OVER (ORDER BY seen.n) AS k"
         " FROM c CROSS JOIN seen" +
         ownsKey +
         " WHERE ready AND NOT had AND (nth = 1 OR NOT c.one_per_user)),"
         " won AS (SELECT ok.* FROM c CROSS JOIN ok WHERE ok.k <= c.remaining),"
         " coupon AS (UPDATE coupons SET remaining = coupons.remaining - w.number,"
         "  granted = coupons.granted + w.number, fence = $2"
         "  FROM (SELECT count(*) AS number FROM won) w WHERE coupons.id = $1 AND w.number > 0),"
         " claim AS (INSERT INTO coupon_claims"
         "  (coupon_id, user_id, state, sequence, one_per_user, fence, ordinal)"
         "  SELECT $1, won.uid, 'DONE', c.granted + won.k, c.one_per_user, $2, won.n"
         "  FROM c CROSS JOIN won RETURNING id, ordinal)"
         " SELECT seen.n, claim.id, c.granted + won.k, c.remaining - won.k,"
         " seen.unknown, seen.had, ok.n IS NOT NULL FROM c CROSS JOIN seen"
         " LEFT JOIN ok ON ok.n = seen.n LEFT JOIN won ON won.n = seen.n"
         " LEFT JOIN claim ON claim.ordinal = seen.n";
}

SharedResult<CouponClaim> resultIn(const drogon::orm::Row& row) {
  SharedResult<CouponClaim> result;
  if (!row[1].isNull())
    result.value = CouponClaim{row[1].as<std::int64_t>(), row[2].as<std::int64_t>(),
                               row[3].as<std::int64_t>()};
  else if (row[4].as<bool>())
    result.refuse(ServiceError(ErrorCode::kUserNotFound));
  else if (row[5].as<bool>())
    result.refuse(ServiceError(ErrorCode::kAlreadyClaimed));
  else if (row[6].as<bool>())
    result.refuse(ServiceError(ErrorCode::kCouponSoldOut));
  return result;
}

// The fence of the transaction, above those of all members.
template <class Members>
std::int64_t largestFence(const Members& members) {
  std::int64_t fence = 0;
  for (const auto* const member : members) fence = std::max(fence, *member->guard.fence);
  return fence;
}

}  // namespace

struct SharedGrant::Write {
  const Members& members;

  drogon::Task<> grantIn(SqlClient& sql) const {
    static const std::string kPlain = sharedGrantStatement(false);
    static const std::string kKeyed = sharedGrantStatement(true);
    const auto couponId = members.front()->grant.couponId();
    const auto fence = largestFence(members);
    SqlArray users;
    for (const auto* const member : members) users.add(member->grant.userId());
    auto keys = keysOf(members);
    drogon::orm::Result rows(nullptr);
    if (haveReceipts(members))
      rows = co_await sql.execSqlCoro(kKeyed, couponId, fence, users.take(), keys.realms.take(),
                                      keys.uids.take(), keys.keys.take(), keys.owners.take());
    else
      rows = co_await sql.execSqlCoro(kPlain, couponId, fence, users.take());
    for (const auto& row : rows) members.at(row[0].as<std::size_t>() - 1)->result = resultIn(row);
  }

  // With the answers of those that have a key.
  drogon::Task<std::monostate> operator()(Sql& sql) {
    co_await grantIn(sql);
    co_await storeAnswers(sql, members);
    co_return std::monostate{};
  }
};

drogon::Task<std::optional<CouponClaim>> SharedGrant::run() {
  if (!guard_.hold->isShared())
    co_return co_await attemptStatement<CouponClaim>(database_, guard_, grant_, receipt_);
  if (auto* const point = testPointOf(guard_.observer)) co_await point->beforeCommit();
  Member mine(grant_, guard_, receipt_);
  const auto members = co_await guard_.hold->gather(mine);
  if (!members.empty()) {
    counts_.add(members.size());
    const bool isOver = co_await writeFor(members);
    if (isOver) guard_.hold->finishOthers();
    guard_.hold->dismiss();
  }
  co_return mine.result.take();
}

// Tells every member its result. True: it is committed, and no member has to go alone. Does not
// throw.
drogon::Task<bool> SharedGrant::writeFor(Members members) const {
  auto end = co_await outcomeOf(write(members));
  // A claim of a user in this batch was committed while it waited for the coupon: now it is seen.
  if (end.isConflict) end = co_await outcomeOf(write(members));
  if (end.isUnknown) end = co_await outcomeOf(resolveLostAnswer(members));
  if (end.isCommitted)
    co_return std::all_of(members.begin(), members.end(),
                          [](const Member* member) { return member->result.isSettled(); });
  for (auto* const member : members) member->result.fail(end);
  co_return false;
}

drogon::Task<> SharedGrant::write(Members members) const {
  for (auto* const member : members) member->result = {};
  Write body{members};
  TransactionOptions options;
  options.deadline = guard_.hold;
  options.commitTimeout = database_.settings.commitTimeout;
  if (haveReceipts(members)) {
    co_await inTransaction(database_.batchClient(), options, body);
    co_return;
  }
  auto statement = [&](Sql& sql) { return body.grantIn(sql); };
  co_await committedByItself(database_.batchClient(), options, statement);
}

// After a lost acknowledgement.
drogon::Task<> SharedGrant::resolveLostAnswer(Members members) const {
  // As the one that wrote, under the fence of all.
  WriteGuard guard;
  guard.hold = guard_.hold;
  guard.observer = guard_.observer;
  guard.fence = largestFence(members);
  const GuardedRow row{grant_.table(), grant_.couponId()};
  try {
    co_await requireCommitted(database_, guard, row);
  } catch (const ServiceError& error) {
    if (error.code() == ErrorCode::kCommitUnconfirmed)
      for (auto* const member : members) member->guard.hold->leaveToExpire();
    throw;
  }
  // It is committed: a member that goes alone because the claims cannot be read would be granted
  // twice.
  auto read = [&] { return readBack(members); };
  const auto isRead = co_await readUntilLeaseEnds(guard, read);
  if (isRead) co_return;
  for (auto* const member : members) member->guard.hold->leaveToExpire();
  throw ServiceError(ErrorCode::kCommitUnconfirmed, "granted, but the claims could not be read");
}

// Members without a claim were not granted one; they look themselves why not.
drogon::Task<bool> SharedGrant::readBack(Members members) const {
  for (auto* const member : members) member->result = {};
  // No holder has granted under a later fence, and grants without one are few in that time.
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT q.ordinal, q.id, q.sequence, c.remaining + c.granted - q.sequence FROM coupons c"
      " JOIN coupon_claims q ON q.coupon_id = c.id AND NOT q.unguarded"
      " AND q.sequence > c.granted - 10000 AND q.sequence <= c.granted"
      " WHERE c.id = $1 AND q.fence = $2 AND q.ordinal IS NOT NULL",
      grant_.couponId(), largestFence(members));
  for (const auto& row : rows)
    members.at(row[0].as<std::size_t>() - 1)->result.value = CouponClaim{
        row[1].as<std::int64_t>(), row[2].as<std::int64_t>(), row[3].as<std::int64_t>()};
  co_return true;
}

}  // namespace festa
