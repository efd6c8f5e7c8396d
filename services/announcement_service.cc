#include "services/announcement_service.h"

#include "services/festival_service.h"
#include "services/local_time.h"

namespace festa {

namespace {

struct PinState {
  bool isPinned;
};

drogon::Task<PinState> findForWrite(Sql& sql, std::int64_t festivalId, std::int64_t id) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT festival_id, is_pinned FROM announcements WHERE id = $1 AND deleted_at IS NULL", id);
  if (rows.empty()) throw ServiceError(ErrorCode::kAnnouncementNotFound);
  if (rows[0][0].as<std::int64_t>() != festivalId)
    throw ServiceError(ErrorCode::kAnnouncementNotInFestival);
  co_return PinState{rows[0][1].as<bool>()};
}

// How the rule "at most three" is kept in SQL. With constraints a pinned row occupies a slot that
// the schema allows only once; without, the strategy around this code is all there is: count, then
// write.
drogon::Task<std::int64_t> countPinned(Sql& sql, std::int64_t festivalId) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT count(*) FROM announcements WHERE festival_id = $1 AND is_pinned", festivalId);
  co_return rows[0][0].as<std::int64_t>();
}

drogon::Task<> requireRoomForPin(Sql& sql, std::int64_t festivalId) {
  // Not in the condition: GCC 12 miscompiles some conditions that contain co_await.
  const auto pinned = co_await countPinned(sql, festivalId);
  if (pinned >= AnnouncementService::kMaxPinned)
    throw ServiceError(ErrorCode::kPinnedLimitExceeded);
}

Announcement createdFrom(const NewAnnouncement& data, const drogon::orm::Result& rows) {
  return Announcement{rows[0][0].as<std::int64_t>(), data.title, data.content, data.isPinned,
                      rows[0][1].as<std::string>()};
}

drogon::Task<Announcement> insertInSlot(Sql& sql, std::int64_t festivalId,
                                        const NewAnnouncement& data) {
  // A concurrent writer may take the slot first; then nothing is inserted, and the next free one is
  // tried.
  while (true) {
    const auto rows = co_await sql.execSqlCoro(
        "INSERT INTO announcements (festival_id, title, content, is_pinned, pin_slot)"
        " SELECT $1, $2, $3, true, slot FROM generate_series(1, 3) AS slot"
        " WHERE NOT EXISTS (SELECT 1 FROM announcements WHERE festival_id = $1 AND pin_slot = slot)"
        " ORDER BY slot LIMIT 1 ON CONFLICT DO NOTHING RETURNING id, " FESTA_LOCAL_TIME(
            "created_at"),
        festivalId, data.title, data.content);
    if (!rows.empty()) co_return createdFrom(data, rows);
    co_await requireRoomForPin(sql, festivalId);
  }
}

drogon::Task<Announcement> insertPlain(Sql& sql, std::int64_t festivalId,
                                       const NewAnnouncement& data, bool unguarded) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO announcements (festival_id, title, content, is_pinned, unguarded)"
      " VALUES ($1, $2, $3, $4, $5) RETURNING id, " FESTA_LOCAL_TIME("created_at"),
      festivalId, data.title, data.content, data.isPinned, unguarded);
  co_return createdFrom(data, rows);
}

drogon::Task<Announcement> insert(Sql& sql, std::int64_t festivalId, const NewAnnouncement& data,
                                  const WriteGuard& guard) {
  if (!guard.usesConstraints()) {
    if (data.isPinned) co_await requireRoomForPin(sql, festivalId);
    co_return co_await insertPlain(sql, festivalId, data, true);
  }
  if (data.isPinned) co_return co_await insertInSlot(sql, festivalId, data);
  co_return co_await insertPlain(sql, festivalId, data, false);
}

drogon::Task<> pin(Sql& sql, std::int64_t festivalId, std::int64_t id, const WriteGuard& guard) {
  if (!guard.usesConstraints()) {
    co_await requireRoomForPin(sql, festivalId);
    co_await sql.execSqlCoro(
        "UPDATE announcements SET is_pinned = true, pin_slot = NULL, unguarded = true WHERE id = "
        "$1 AND deleted_at IS NULL",
        id);
    co_return;
  }
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

drogon::Task<bool> changePin(Sql& sql, std::int64_t festivalId, std::int64_t id, bool pinned,
                             const WriteGuard& guard) {
  const auto state = co_await findForWrite(sql, festivalId, id);
  if (state.isPinned == pinned) co_return pinned;
  if (pinned)
    co_await pin(sql, festivalId, id, guard);
  else
    co_await sql.execSqlCoro(
        "UPDATE announcements SET is_pinned = false, pin_slot = NULL WHERE id = $1", id);
  co_return pinned;
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

}  // namespace

drogon::Task<Announcement> AnnouncementService::create(std::int64_t festivalId,
                                                       NewAnnouncement announcement,
                                                       WriteGuard guard,
                                                       Receipt<Announcement> receipt) const {
  auto write = [&](Sql& sql) { return insert(sql, festivalId, announcement, guard); };
  const GuardedRow festival{guardedFestivals(), festivalId};
  co_return co_await guardedWrite(database_.client(), guard, festival, database_.settings, write,
                                  receipt);
}

drogon::Task<bool> AnnouncementService::setPinned(std::int64_t festivalId, std::int64_t id,
                                                  bool pinned, WriteGuard guard,
                                                  Receipt<bool> receipt) const {
  auto write = [&](Sql& sql) { return changePin(sql, festivalId, id, pinned, guard); };
  const GuardedRow festival{guardedFestivals(), festivalId};
  co_return co_await guardedWrite(database_.client(), guard, festival, database_.settings, write,
                                  receipt);
}

drogon::Task<std::int64_t> AnnouncementService::remove(std::int64_t festivalId, std::int64_t id,
                                                       WriteGuard guard,
                                                       Receipt<std::int64_t> receipt) const {
  auto write = [&](Sql& sql) { return softDelete(sql, festivalId, id); };
  const GuardedRow festival{guardedFestivals(), festivalId};
  co_return co_await guardedWrite(database_.client(), guard, festival, database_.settings, write,
                                  receipt);
}

drogon::Task<std::int64_t> AnnouncementService::edit(std::int64_t festivalId, std::int64_t id,
                                                     AnnouncementText text,
                                                     Receipt<std::int64_t> receipt) const {
  auto write = [&](Sql& sql) { return updateText(sql, festivalId, id, text); };
  co_return co_await plainWrite(database_.client(), database_.settings.commitTimeout, write,
                                receipt);
}

drogon::Task<std::vector<Announcement>> AnnouncementService::list(std::int64_t festivalId) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT a.id, a.title, a.content, a.is_pinned, " FESTA_LOCAL_TIME("a.created_at")
      " FROM festivals f LEFT JOIN announcements a ON a.festival_id = f.id AND a.deleted_at IS NULL"
      " WHERE f.id = $1 ORDER BY a.id DESC",
      festivalId);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  std::vector<Announcement> announcements;
  announcements.reserve(rows.size());
  for (const auto& row : rows)
    if (!row[0].isNull())
      announcements.push_back({row[0].as<std::int64_t>(), row[1].as<std::string>(),
                               row[2].as<std::string>(), row[3].as<bool>(),
                               row[4].as<std::string>()});
  co_return announcements;
}

}  // namespace festa
