#include "services/coupons/queued_claims.h"

#include "services/write/sql_array.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>

namespace festa {

namespace {

constexpr auto kAtOnce = static_cast<std::int64_t>(QueuedClaims::kAtOnce);

std::vector<std::int64_t> idsIn(const drogon::orm::Result& rows) {
  std::vector<std::int64_t> ids;
  ids.reserve(rows.size());
  for (const auto& row : rows) ids.push_back(row[0].as<std::int64_t>());
  return ids;
}

ClaimView viewOf(const drogon::orm::Row& row) {
  ClaimView claim{row[0].as<std::int64_t>(),
                  row[1].as<std::int64_t>(),
                  row[2].as<std::string>(),
                  row[3].as<std::int64_t>(),
                  {},
                  {}};
  if (!row[4].isNull()) claim.sequence = row[4].as<std::int64_t>();
  if (!row[5].isNull()) claim.code = row[5].as<std::string>();
  return claim;
}

drogon::Task<AcceptedClaim> insertClaim(Sql& sql, std::int64_t couponId, std::int64_t userId,
                                        const std::string& queue) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO coupon_claims (coupon_id, user_id, state, one_per_user, queue)"
      " SELECT c.id, u.id, 'NEW', c.one_per_user, $3 FROM coupons c, users u"
      " WHERE c.id = $1 AND u.id = $2 ON CONFLICT DO NOTHING RETURNING id,"
      " (SELECT count(*) FROM coupon_claims q WHERE q.coupon_id = $1 AND q.state = 'NEW')",
      couponId, userId, queue);
  if (!rows.empty())
    co_return AcceptedClaim{rows[0][0].as<std::int64_t>(), rows[0][1].as<std::int64_t>()};
  const auto reason = co_await sql.execSqlCoro(
      "SELECT EXISTS (SELECT 1 FROM coupons WHERE id = $1),"
      " EXISTS (SELECT 1 FROM users WHERE id = $2)",
      couponId, userId);
  if (!reason[0][0].as<bool>()) throw ServiceError(ErrorCode::kCouponNotFound);
  if (!reason[0][1].as<bool>()) throw ServiceError(ErrorCode::kUserNotFound);
  throw ServiceError(ErrorCode::kAlreadyClaimed);
}

}  // namespace

drogon::Task<AcceptedClaim> QueuedClaims::accept(std::int64_t couponId, std::int64_t userId,
                                                 const Receipt<AcceptedClaim>* receipt) const {
  auto write = [&](Sql& sql) { return insertClaim(sql, couponId, userId, settings_.queue); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<> QueuedClaims::confirmed(std::vector<std::int64_t> ids) const {
  co_await database_.client()->execSqlCoro(
      "UPDATE coupon_claims SET published_at = now() WHERE id = ANY($1::text::bigint[])",
      sqlArray(ids));
}

drogon::Task<drogon::orm::Result> QueuedClaims::decide(std::int64_t couponId,
                                                       std::int64_t most) const {
  // They are locked first: another decider waits here, and then finds them decided. Nothing is
  // returned then, and the caller looks again. Those that come later than the caller's claim are
  // decided with it, in the order of arrival.
  co_return co_await database_.client()->execSqlCoro(
      "WITH line AS (SELECT id FROM coupon_claims WHERE coupon_id = $1 AND state = 'NEW'"
      "  ORDER BY id LIMIT $2 FOR UPDATE),"
      " c AS (SELECT remaining, granted FROM coupons WHERE id = $1"
      "  AND (SELECT count(*) FROM line) > 0 FOR NO KEY UPDATE),"
      " next AS (SELECT id, row_number() OVER (ORDER BY id) AS k FROM line),"
      " units AS (UPDATE coupons SET remaining = coupons.remaining - w.number,"
      "  granted = coupons.granted + w.number"
      "  FROM (SELECT count(*) AS number FROM next, c WHERE k <= c.remaining) w"
      "  WHERE coupons.id = $1 AND w.number > 0)"
      " UPDATE coupon_claims q SET"
      " sequence = CASE WHEN k <= c.remaining THEN c.granted + k END,"
      " state = CASE WHEN k <= c.remaining THEN 'PROCESSED' ELSE 'FAILED' END,"
      " code = CASE WHEN k <= c.remaining THEN NULL ELSE 'COUPON_SOLD_OUT' END"
      " FROM next, c WHERE q.id = next.id AND q.state = 'NEW'"
      " RETURNING extract(epoch FROM clock_timestamp() - q.created_at)::float8",
      couponId, most);
}

drogon::Task<bool> QueuedClaims::admit(std::int64_t id) const {
  const auto db = database_.client();
  while (true) {
    const auto claim =
        co_await db->execSqlCoro("SELECT coupon_id, state FROM coupon_claims WHERE id = $1", id);
    if (claim.empty()) co_return false;
    const auto state = claim[0][1].as<std::string>();
    if (state != "NEW") co_return state == "PROCESSED";
    const auto couponId = claim[0][0].as<std::int64_t>();
    const auto most = atOnce_.load();
    atOnce_ = std::max<std::int64_t>(1, most / 2);  // unless it succeeds
    const auto decided = co_await decide(couponId, most);
    atOnce_ = std::min(kDecidedAtOnce, most * 2);
    for (const auto& row : decided)
      if (observer_) observer_->decided(row[0].as<double>());
  }
}

drogon::Task<> QueuedClaims::work(std::int64_t id) const {
  const auto claim = co_await database_.client()->execSqlCoro(
      "SELECT 1 FROM coupon_claims WHERE id = $1 AND state = 'PROCESSED'", id);
  if (claim.empty()) co_return;
  if (settings_.workTime.count() > 0) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    const std::chrono::duration<double> time = settings_.workTime;
    co_await drogon::sleepCoro(loop, time);
  }
  co_await database_.client()->execSqlCoro(
      "UPDATE coupon_claims SET state = 'DONE' WHERE id = $1 AND state = 'PROCESSED'", id);
}

drogon::Task<> QueuedClaims::giveUp(std::int64_t id) const {
  co_await database_.client()->execSqlCoro(
      "WITH failed AS (UPDATE coupon_claims SET state = 'FAILED', code = 'WORK_FAILED'"
      " WHERE id = $1 AND state = 'PROCESSED' RETURNING coupon_id)"
      " UPDATE coupons c SET remaining = remaining + 1 FROM failed WHERE c.id = failed.coupon_id",
      id);
}

drogon::Task<std::vector<std::int64_t>> QueuedClaims::unconfirmed() const {
  const auto after = static_cast<std::int64_t>(settings_.republishAfter.count());
  const auto again = static_cast<std::int64_t>(settings_.republishAgain.count());
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT id FROM coupon_claims WHERE queue = $1 AND state IN ('NEW', 'PROCESSED')"
      " AND (published_at IS NULL AND created_at < now() - $2::bigint * interval '1 second'"
      " OR $3::bigint > 0 AND published_at < now() - $3::bigint * interval '1 second')"
      " ORDER BY id LIMIT $4",
      settings_.queue, after, again, kAtOnce);
  co_return idsIn(rows);
}

drogon::Task<std::vector<std::int64_t>> QueuedClaims::unfinished(std::int64_t after) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT id FROM coupon_claims WHERE queue = $1 AND state IN ('NEW', 'PROCESSED')"
      " AND id > $2 ORDER BY id LIMIT $3",
      settings_.queue, after, kAtOnce);
  co_return idsIn(rows);
}

drogon::Task<std::size_t> ClaimExpiry::run() const {
  const auto seconds = static_cast<std::int64_t>(timeout_.count());
  // An admitted claim had a unit of the stock, which returns.
  const auto rows = co_await database_.client()->execSqlCoro(
      "WITH old AS (SELECT id, coupon_id, state FROM coupon_claims"
      " WHERE state IN ('NEW', 'PROCESSED') AND created_at < now() - $1::bigint * interval '1 "
      "second'"
      " ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED),"
      " units AS (SELECT coupon_id, count(*) AS number FROM old WHERE state = 'PROCESSED'"
      " GROUP BY coupon_id),"
      " returned AS (UPDATE coupons c SET remaining = c.remaining + units.number FROM units"
      " WHERE c.id = units.coupon_id)"
      " UPDATE coupon_claims q SET state = 'FAILED', code = 'CLAIM_EXPIRED' FROM old"
      " WHERE q.id = old.id RETURNING q.id",
      seconds, kAtOnce);
  co_return rows.size();
}

drogon::Task<std::vector<ClaimView>> ClaimReader::find(std::vector<std::int64_t> ids) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "WITH asked AS (SELECT * FROM coupon_claims WHERE id = ANY($1::text::bigint[])),"
      " line AS (SELECT id, row_number() OVER (PARTITION BY coupon_id ORDER BY id) - 1 AS ahead"
      " FROM coupon_claims WHERE state = 'NEW'"
      " AND coupon_id IN (SELECT coupon_id FROM asked WHERE state = 'NEW'))"
      " SELECT asked.id, asked.user_id, asked.state, coalesce(line.ahead, 0), asked.sequence,"
      " asked.code FROM asked LEFT JOIN line ON line.id = asked.id",
      sqlArray(ids));
  std::vector<ClaimView> claims;
  for (const auto& row : rows) claims.push_back(viewOf(row));
  co_return claims;
}

drogon::Task<ClaimView> ClaimReader::find(std::int64_t id) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT c.id, c.user_id, c.state, CASE WHEN c.state = 'NEW' THEN (SELECT count(*) FROM"
      " coupon_claims q WHERE q.coupon_id = c.coupon_id AND q.state = 'NEW' AND q.id < c.id)"
      " ELSE 0 END, c.sequence, c.code FROM coupon_claims c WHERE c.id = $1",
      id);
  if (rows.empty()) throw ServiceError(ErrorCode::kClaimNotFound);
  co_return viewOf(rows[0]);
}

}  // namespace festa
