// Announcements of a festival, at most three of them pinned.
#pragma once

#include "services/announcements/announcement.h"
#include "services/write/guarded_write.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

// A part of a festival's announcements, newest first.
struct AnnouncementPage {
  std::vector<Announcement> pinned;
  std::vector<Announcement> unpinned;
};

struct AnnouncementText {
  std::string title;
  std::string content;
};

// The caller's festival comes first in every write; another festival's announcement is
// kAnnouncementNotInFestival, a deleted or unknown one kAnnouncementNotFound. Writes that can
// change the number of pins take a guard; all of one festival must be protected by the same one.
// Thread-safe.
class AnnouncementService {
 public:
  static constexpr int kMaxPinned = 3;

  explicit AnnouncementService(const Database& database) : database_(database) {}
  virtual ~AnnouncementService() = default;

  // Throws ServiceError(kPinnedLimitExceeded) for a fourth pin; then nothing is unpinned either.
  drogon::Task<Announcement> create(std::int64_t festivalId, NewAnnouncement announcement,
                                    WriteGuard& guard,
                                    const Receipt<Announcement>* receipt = nullptr) const;
  // The limit is checked on unpinned → pinned only; a change to the state it has changes nothing,
  // the announcement of `insteadOf` included.
  drogon::Task<bool> setPinned(std::int64_t festivalId, std::int64_t id, PinChange change,
                               WriteGuard& guard, const Receipt<bool>* receipt = nullptr) const;
  // These return the id.
  drogon::Task<std::int64_t> remove(std::int64_t festivalId, std::int64_t id, WriteGuard& guard,
                                    const Receipt<std::int64_t>* receipt = nullptr) const;
  drogon::Task<std::int64_t> edit(std::int64_t festivalId, std::int64_t id, AnnouncementText text,
                                  const Receipt<std::int64_t>* receipt = nullptr) const;

  // All pinned ones and the newest unpinned ones; with `after` only unpinned ones older than that
  // id. Stops when the unpinned ones, written as JSON, take more than `bytes` for certain: a reader
  // that has no more room than that and shows all of them has shown the last. Reads one snapshot,
  // and hardly more of it than it returns. Throws ServiceError(kFestivalNotFound).
  drogon::Task<AnnouncementPage> list(std::int64_t festivalId, std::optional<std::int64_t> after,
                                      std::size_t bytes) const;

 protected:
  // Steps of create() and setPinned(), in their transaction, whose guard is open. They keep the
  // rule "at most three" by themselves: a pinned row occupies a slot that the schema allows once.
  virtual drogon::Task<Announcement> insert(Sql& sql, std::int64_t festivalId,
                                            const NewAnnouncement& announcement,
                                            const WriteGuard& guard) const;
  virtual drogon::Task<> pin(Sql& sql, std::int64_t festivalId, std::int64_t id,
                             const WriteGuard& guard) const;

  // Throws ServiceError(kPinnedLimitExceeded).
  static drogon::Task<> requireRoomForPin(Sql& sql, std::int64_t festivalId);

 private:
  drogon::Task<Announcement> makeRoomAndInsert(Sql& sql, std::int64_t festivalId,
                                               const NewAnnouncement& announcement,
                                               const WriteGuard& guard) const;
  drogon::Task<bool> changePin(Sql& sql, std::int64_t festivalId, std::int64_t id, PinChange change,
                               const WriteGuard& guard) const;

  const Database& database_;
};

}  // namespace festa
