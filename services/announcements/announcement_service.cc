#include "services/announcements/announcement_service.h"

#include <limits>

namespace festa {

namespace {

const GuardedTable& guardedFestivals() {
  static const GuardedTable table = guardedTable("festivals", ErrorCode::kFestivalNotFound);
  return table;
}

struct PinState {
  bool isPinned;
};

// `rows` are of one announcement; their first column is its festival.
void requireInFestival(const drogon::orm::Result& rows, std::int64_t festivalId) {
  if (rows.empty()) throw ServiceError(ErrorCode::kAnnouncementNotFound);
  if (rows[0][0].as<std::int64_t>() != festivalId)
    throw ServiceError(ErrorCode::kAnnouncementNotInFestival);
}

drogon::Task<PinState> findForWrite(Sql& sql, std::int64_t festivalId, std::int64_t id) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT festival_id, is_pinned FROM announcements WHERE id = $1 AND deleted_at IS NULL", id);
  requireInFestival(rows, festivalId);
  co_return PinState{rows[0][1].as<bool>()};
}

Announcement createdFrom(const NewAnnouncement& data, const drogon::orm::Result& rows) {
  return Announcement{rows[0][0].as<std::int64_t>(), data.title, data.content, data.isPinned,
                      rows[0][1].as<std::string>()};
}

drogon::Task<Announcement> insertUnpinned(Sql& sql, std::int64_t festivalId,
                                          const NewAnnouncement& data) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO announcements (festival_id, title, content, is_pinned)"
      " VALUES ($1, $2, $3, false) RETURNING id, " FESTA_LOCAL_TIME("created_at"),
      festivalId, data.title, data.content);
  co_return createdFrom(data, rows);
}

drogon::Task<> unpin(Sql& sql, std::int64_t id) {
  co_await sql.execSqlCoro(
      "UPDATE announcements SET is_pinned = false, pin_slot = NULL WHERE id = $1 AND is_pinned",
      id);
}

drogon::Task<> makeRoom(Sql& sql, std::int64_t festivalId, std::optional<std::int64_t> insteadOf) {
  if (!insteadOf) co_return;
  // In one statement, so that a swap is no longer than the longest attempt of other writes. One
  // that a concurrent writer has unpinned or deleted holds no place any more.
  const auto rows = co_await sql.execSqlCoro(
      "WITH found AS ("
      " SELECT id, festival_id FROM announcements WHERE id = $1 AND deleted_at IS NULL),"
      " unpinned AS ("
      " UPDATE announcements a SET is_pinned = false, pin_slot = NULL FROM found"
      " WHERE a.id = found.id AND found.festival_id = $2 AND a.is_pinned)"
      " SELECT festival_id FROM found",
      *insteadOf, festivalId);
  requireInFestival(rows, festivalId);
}

drogon::Task<std::int64_t> softDelete(Sql& sql, std::int64_t festivalId, std::int64_t id) {
  co_await findForWrite(sql, festivalId, id);
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE announcements SET deleted_at = now(), is_pinned = false, pin_slot = NULL"
      " WHERE id = $1 AND deleted_at IS NULL RETURNING id",
      id);
  if (rows.empty()) throw ServiceError(ErrorCode::kAnnouncementNotFound);
  co_return id;
}

drogon::Task<std::int64_t> updateText(Sql& sql, std::int64_t festivalId, std::int64_t id,
                                      const AnnouncementText& text) {
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE announcements SET title = $1, content = $2"
      " WHERE id = $3 AND festival_id = $4 AND deleted_at IS NULL RETURNING id",
      text.title, text.content, id, festivalId);
  if (rows.empty()) {
    co_await findForWrite(sql, festivalId, id);
    throw ServiceError(ErrorCode::kAnnouncementNotFound);
  }
  co_return id;
}

// $1 festival, $2 upper end of the ids, $3 bytes, $4 whether the pinned ones belong to it. No row:
// no such festival.
//
// `page` grows by blocks of 64 until their rows take $3 bytes, counting 100 for what JSON adds to
// the texts of each; its first row, without a title, is where it begins. Only one index has the
// order of (festival_id, id), so the primary key is not read past the rows of other festivals; and
// the planner does not see what "(SELECT 64)" is, so that it reads that index in its order even if
// it believes that there are few rows, which it could as well sort. The second LIMIT tells it how
// little that is.
constexpr const char* kSelectPage =
    "WITH RECURSIVE page AS ("
    " SELECT $1::bigint AS festival_id, $2::bigint AS id, NULL::text AS title,"
    "  NULL::text AS content, NULL::timestamptz AS created_at, 0::bigint AS bytes, true AS leads_on"
    " UNION ALL"
    " SELECT older.* FROM page CROSS JOIN LATERAL ("
    "  SELECT festival_id, id, title, content, created_at,"
    "   page.bytes + sum(100 + octet_length(title) + octet_length(content)) OVER newest_first,"
    "   row_number() OVER newest_first = 64"
    "  FROM ("
    "   SELECT festival_id, id, title, content, created_at FROM announcements"
    "   WHERE (festival_id, id) < (page.festival_id, page.id)"
    "    AND (festival_id, id) >= (page.festival_id, 0) AND deleted_at IS NULL AND NOT is_pinned"
    "   ORDER BY festival_id DESC, id DESC LIMIT (SELECT 64)) AS block"
    "  WINDOW newest_first AS (ORDER BY festival_id DESC, id DESC) LIMIT 64) AS older"
    " WHERE page.leads_on AND page.bytes < $3)"
    " SELECT a.id, a.title, a.content, a.is_pinned, " FESTA_LOCAL_TIME(
        "a.created_at")
    " FROM festivals f LEFT JOIN LATERAL ("
    "  SELECT id, title, content, is_pinned, created_at FROM announcements"
    "  WHERE festival_id = f.id AND is_pinned AND $4"
    "  UNION ALL"
    "  SELECT id, title, content, false, created_at FROM page WHERE title IS NOT NULL) AS a ON true"
    " WHERE f.id = $1 ORDER BY a.id DESC";

}  // namespace

drogon::Task<> AnnouncementService::requireRoomForPin(Sql& sql, std::int64_t festivalId) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT count(*) FROM announcements WHERE festival_id = $1 AND is_pinned", festivalId);
  if (rows[0][0].as<std::int64_t>() >= kMaxPinned)
    throw ServiceError(ErrorCode::kPinnedLimitExceeded);
}

drogon::Task<Announcement> AnnouncementService::insert(Sql& sql, std::int64_t festivalId,
                                                       const NewAnnouncement& announcement,
                                                       const WriteGuard&) const {
  if (!announcement.isPinned) co_return co_await insertUnpinned(sql, festivalId, announcement);
  // A concurrent writer may take the slot first; then nothing is inserted, and the next free one is
  // tried.
  while (true) {
    const auto rows = co_await sql.execSqlCoro(
        "INSERT INTO announcements (festival_id, title, content, is_pinned, pin_slot)"
        " SELECT $1, $2, $3, true, slot FROM generate_series(1, 3) AS slot"
        " WHERE NOT EXISTS (SELECT 1 FROM announcements WHERE festival_id = $1 AND pin_slot = slot)"
        " ORDER BY slot LIMIT 1 ON CONFLICT DO NOTHING RETURNING id, " FESTA_LOCAL_TIME(
            "created_at"),
        festivalId, announcement.title, announcement.content);
    if (!rows.empty()) co_return createdFrom(announcement, rows);
    co_await requireRoomForPin(sql, festivalId);
  }
}

drogon::Task<> AnnouncementService::pin(Sql& sql, std::int64_t festivalId, std::int64_t id,
                                        const WriteGuard&) const {
  // A slot taken by a concurrent writer is a unique violation, which guardedWrite repeats.
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE announcements SET is_pinned = true, pin_slot = free.slot, unguarded = false"
      " FROM (SELECT slot FROM generate_series(1, 3) AS slot"
      "  WHERE NOT EXISTS (SELECT 1 FROM announcements WHERE festival_id = $1 AND pin_slot = slot)"
      "  ORDER BY slot LIMIT 1) AS free"
      " WHERE id = $2 AND deleted_at IS NULL RETURNING id",
      festivalId, id);
  if (!rows.empty()) co_return;
  co_await findForWrite(sql, festivalId, id);
  throw ServiceError(ErrorCode::kPinnedLimitExceeded);
}

drogon::Task<Announcement> AnnouncementService::makeRoomAndInsert(
    Sql& sql, std::int64_t festivalId, const NewAnnouncement& announcement,
    const WriteGuard& guard) const {
  if (announcement.isPinned) co_await makeRoom(sql, festivalId, announcement.insteadOf);
  co_return co_await insert(sql, festivalId, announcement, guard);
}

drogon::Task<bool> AnnouncementService::changePin(Sql& sql, std::int64_t festivalId,
                                                  std::int64_t id, PinChange change,
                                                  const WriteGuard& guard) const {
  const auto state = co_await findForWrite(sql, festivalId, id);
  if (state.isPinned == change.pinned) co_return change.pinned;
  if (change.pinned) co_await makeRoom(sql, festivalId, change.insteadOf);
  if (change.pinned)
    co_await pin(sql, festivalId, id, guard);
  else
    co_await unpin(sql, id);
  co_return change.pinned;
}

drogon::Task<Announcement> AnnouncementService::create(std::int64_t festivalId,
                                                       NewAnnouncement announcement,
                                                       WriteGuard& guard,
                                                       const Receipt<Announcement>* receipt) const {
  auto write = [&](Sql& sql) { return makeRoomAndInsert(sql, festivalId, announcement, guard); };
  const GuardedRow festival{guardedFestivals(), festivalId};
  co_return co_await guardedWrite(database_, guard, festival, write, receipt);
}

drogon::Task<bool> AnnouncementService::setPinned(std::int64_t festivalId, std::int64_t id,
                                                  PinChange change, WriteGuard& guard,
                                                  const Receipt<bool>* receipt) const {
  auto write = [&](Sql& sql) { return changePin(sql, festivalId, id, change, guard); };
  const GuardedRow festival{guardedFestivals(), festivalId};
  co_return co_await guardedWrite(database_, guard, festival, write, receipt);
}

drogon::Task<std::int64_t> AnnouncementService::remove(std::int64_t festivalId, std::int64_t id,
                                                       WriteGuard& guard,
                                                       const Receipt<std::int64_t>* receipt) const {
  auto write = [&](Sql& sql) { return softDelete(sql, festivalId, id); };
  const GuardedRow festival{guardedFestivals(), festivalId};
  co_return co_await guardedWrite(database_, guard, festival, write, receipt);
}

drogon::Task<std::int64_t> AnnouncementService::edit(std::int64_t festivalId, std::int64_t id,
                                                     AnnouncementText text,
                                                     const Receipt<std::int64_t>* receipt) const {
  auto write = [&](Sql& sql) { return updateText(sql, festivalId, id, text); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<AnnouncementPage> AnnouncementService::list(std::int64_t festivalId,
                                                         std::optional<std::int64_t> after,
                                                         std::size_t bytes) const {
  const auto before = after.value_or(std::numeric_limits<std::int64_t>::max());
  const auto atLeast = static_cast<std::int64_t>(bytes);
  const bool withPinned = !after;
  const auto rows = co_await database_.client()->execSqlCoro(kSelectPage, festivalId, before,
                                                             atLeast, withPinned);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  AnnouncementPage page;
  for (const auto& row : rows) {
    if (row[0].isNull()) continue;  // the festival has none
    const bool isPinned = row[3].as<bool>();
    (isPinned ? page.pinned : page.unpinned)
        .push_back({row[0].as<std::int64_t>(), row[1].as<std::string>(), row[2].as<std::string>(),
                    isPinned, row[4].as<std::string>()});
  }
  co_return page;
}

}  // namespace festa
