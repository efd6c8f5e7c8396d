// Notifications of announcements: at most one per announcement in three minutes, kept in an outbox
// until every listener has had time to read it.
#pragma once

#include "services/announcements/snapshot.h"
#include "services/write/database.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

struct Notification {
  std::int64_t id = 0;
  std::int64_t festivalId = 0;
  std::int64_t announcementId = 0;
  std::string title;
  std::string content;
  std::string notifiedAt;  // ISO local date-time
  std::uint64_t xid = 0;   // of the transaction that wrote it
  // The snapshot of a reader that has been told everything up to this one, as text.
  std::string position = {};
};

// Thread-safe.
class NotificationService {
 public:
  static constexpr std::chrono::seconds kPause{180};
  // Rows of the outbox are kept for `keep`.
  NotificationService(const Database& database, std::chrono::seconds keep)
      : database_(database), keep_(keep) {}

  // Writes to the outbox; the announcement's id. Throws ServiceError: kAnnouncementNotFound,
  // kAnnouncementNotInFestival, and kNotifiedRecently with the time until the next one.
  drogon::Task<std::int64_t> notify(std::int64_t festivalId, std::int64_t announcementId,
                                    const Receipt<std::int64_t>* receipt = nullptr) const;

  struct News {
    Snapshot seen;  // what this look has seen; if it is not complete, up to its last notification
    std::vector<Notification> unseen;  // by it and not by the look before, by transaction
    bool isComplete = true;            // false: there is more, which a look from `seen` finds
    std::size_t bytes = 0;             // of the texts and positions of `unseen`
  };
  // Most that one look tells, of rows and of their texts and positions, and by less than a row
  // more. PostgreSQL sends no more texts than that.
  struct Page {
    std::int64_t rows = 1000;
    std::size_t bytes = 1024UL * 1024;
  };
  // What has been committed since `before` was taken, in whatever order, of one festival or of all.
  // Without `before` nothing is unseen. Every transaction writes one row.
  drogon::Task<News> since(std::optional<Snapshot> before, std::optional<std::int64_t> festivalId,
                           Page page) const;

  // Throws ServiceError(kFestivalNotFound).
  drogon::Task<> requireFestival(std::int64_t festivalId) const;

  // Removes rows older than `keep`, in statements of a thousand; how many.
  drogon::Task<std::size_t> sweep() const;

 private:
  const Database& database_;
  const std::chrono::seconds keep_;
};

}  // namespace festa
