// Writes that rely on the lock around them alone.
#pragma once

#include "services/announcements/announcement.h"
#include "services/festivals/event_dates.h"
#include "services/festivals/questions.h"
#include "services/seats/seat.h"
#include "services/write/transaction.h"

namespace festa {

class CouponGrant;
class SeatSale;
struct CouponClaim;

// The same effects as the services' own writes, by reading first and writing then, in rows marked
// unguarded: right only if something else keeps other writers away. The services know this
// interface; only a lab start has an implementation. Thread-safe.
class UnguardedWrites {
 public:
  virtual ~UnguardedWrites() = default;

  virtual drogon::Task<Announcement> insert(Sql& sql, std::int64_t festivalId,
                                            const NewAnnouncement& announcement) const = 0;
  virtual drogon::Task<> pin(Sql& sql, std::int64_t festivalId, std::int64_t id) const = 0;
  virtual drogon::Task<Reservation> sell(Sql& sql, SeatSale& sale) const = 0;
  virtual drogon::Task<CouponClaim> grant(Sql& sql, const CouponGrant& grant) const = 0;

  // The caller has seen in the same transaction that the date or sequence is free.
  virtual drogon::Task<EventDates::Row> addDate(Sql& sql, std::int64_t festivalId,
                                                const std::string& date) const = 0;
  virtual drogon::Task<> changeDate(Sql& sql, std::int64_t id, const std::string& date) const = 0;
  virtual drogon::Task<Questions::Row> addQuestion(Sql& sql, std::int64_t festivalId,
                                                   const Questions::Item& item,
                                                   std::int64_t sequence) const = 0;
  virtual drogon::Task<> moveQuestions(Sql& sql, std::int64_t festivalId,
                                       const std::vector<QuestionPlace>& places) const = 0;
};

}  // namespace festa
