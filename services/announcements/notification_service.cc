#include "services/announcements/notification_service.h"

#include "services/festivals/festival_items.h"

#include <algorithm>

namespace festa {

namespace {

// Why the outbox has got no row. The clock is the database's.
drogon::Task<> refuse(Sql& sql, std::int64_t festivalId, std::int64_t announcementId) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT festival_id, ceil(extract(epoch FROM notified_at + interval '3 minutes' - now()))"
      " FROM announcements WHERE id = $1 AND deleted_at IS NULL",
      announcementId);
  if (rows.empty()) throw ServiceError(ErrorCode::kAnnouncementNotFound);
  if (rows[0][0].as<std::int64_t>() != festivalId)
    throw ServiceError(ErrorCode::kAnnouncementNotInFestival);
  ServiceError recently(ErrorCode::kNotifiedRecently);
  const std::chrono::seconds left(rows[0][1].isNull() ? 1 : rows[0][1].as<std::int64_t>());
  recently.retryAfter(std::clamp(left, std::chrono::seconds(1), NotificationService::kPause));
  throw recently;
}

// The pause is a condition of the statement. Of two at once the second waits for the row and finds
// the first one's time in it.
drogon::Task<std::int64_t> writeToOutbox(Sql& sql, std::int64_t festivalId,
                                         std::int64_t announcementId) {
  const auto rows = co_await sql.execSqlCoro(
      "WITH due AS (UPDATE announcements SET notified_at = now() WHERE id = $1 AND festival_id = $2"
      "  AND deleted_at IS NULL"
      "  AND (notified_at IS NULL OR notified_at <= now() - interval '3 minutes')"
      "  RETURNING id, festival_id, title, content)"
      " INSERT INTO announcement_notifications (festival_id, announcement_id, title, content)"
      " SELECT festival_id, id, title, content FROM due RETURNING id",
      announcementId, festivalId);
  if (rows.empty()) co_await refuse(sql, festivalId, announcementId);
  co_return announcementId;
}

Notification notificationIn(const drogon::orm::Row& row) {
  return {row[1].as<std::int64_t>(), row[2].as<std::int64_t>(), row[3].as<std::int64_t>(),
          row[4].as<std::string>(),  row[5].as<std::string>(),  row[6].as<std::string>(),
          row[7].as<std::uint64_t>()};
}

}  // namespace

drogon::Task<std::int64_t> NotificationService::notify(std::int64_t festivalId,
                                                       std::int64_t announcementId,
                                                       const Receipt<std::int64_t>* receipt) const {
  auto write = [&](Sql& sql) { return writeToOutbox(sql, festivalId, announcementId); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<NotificationService::News> NotificationService::since(
    std::optional<Snapshot> before, std::optional<std::int64_t> festivalId, Page page) const {
  const std::string from = before ? before->text() : "";
  const std::int64_t festival = festivalId.value_or(0);
  // The index finds what is not older than the oldest transaction that ran at the time; among those
  // are some that had committed. A snapshot that knows more than the database does is not used, and
  // neither are rows of another one, which a restored database may have.
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT now.snapshot::text, n.* FROM (SELECT pg_current_snapshot() AS snapshot,"
      "  nullif($1, '')::pg_snapshot AS before) AS now"
      " LEFT JOIN LATERAL (SELECT id, festival_id, announcement_id, title, content,"
      "  " FESTA_LOCAL_TIME("notified_at") ", xid::text, found FROM"
      "  (SELECT o.*, count(*) OVER () AS found, sum(octet_length(title) + octet_length(content))"
      "    OVER (ORDER BY xid ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_it"
      "   FROM (SELECT * FROM announcement_notifications WHERE"
      "     xid >= pg_snapshot_xmin(now.before) AND NOT pg_visible_in_snapshot(xid, now.before)"
      "     AND pg_visible_in_snapshot(xid, now.snapshot)"
      "     AND pg_snapshot_xmax(now.before) <= pg_snapshot_xmax(now.snapshot)"
      "     AND ($2::bigint = 0 OR festival_id = $2::bigint)"
      "    ORDER BY xid LIMIT $3) AS o) AS page"
      "  WHERE coalesce(before_it, 0) < $4::bigint ORDER BY page.xid) AS n ON true",
      from, festival, page.rows, static_cast<std::int64_t>(page.bytes));
  const auto seen = Snapshot::parse(rows[0][0].as<std::string>());
  if (!seen) throw std::runtime_error("PostgreSQL's own snapshot cannot be read");
  News news{*seen, {}};
  for (const auto& row : rows) {
    if (row[1].isNull()) break;
    if (news.bytes >= page.bytes) {
      news.isComplete = false;
      break;
    }
    auto& notification = news.unseen.emplace_back(notificationIn(row));
    notification.position = seen->upTo(notification.xid, *before).text();
    news.bytes +=
        notification.title.size() + notification.content.size() + notification.position.size();
    const auto found = row[8].as<std::int64_t>();
    news.isComplete = found < page.rows && found == static_cast<std::int64_t>(rows.size());
  }
  if (!news.isComplete && !news.unseen.empty())
    news.seen = seen->upTo(news.unseen.back().xid, *before);
  co_return news;
}

drogon::Task<> NotificationService::requireFestival(std::int64_t festivalId) const {
  const auto db = database_.client();
  co_await festa::requireFestival(*db, festivalId);
}

drogon::Task<std::size_t> NotificationService::sweep() const {
  constexpr std::size_t kAtOnce = 1000;
  std::size_t removed = 0;
  for (std::size_t last = kAtOnce; last == kAtOnce; removed += last) {
    const auto rows = co_await database_.client()->execSqlCoro(
        "DELETE FROM announcement_notifications WHERE id IN (SELECT id FROM"
        " announcement_notifications WHERE notified_at < now() - make_interval(secs => $1)"
        " ORDER BY notified_at LIMIT $2) RETURNING 1",
        static_cast<double>(keep_.count()), static_cast<std::int64_t>(kAtOnce));
    last = rows.size();
  }
  co_return removed;
}

}  // namespace festa
