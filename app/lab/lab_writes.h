// Writes without a backstop, for the lab: a broken lock must be seen.
#pragma once

#include "services/write/unguarded_writes.h"

namespace festa {

class LabWrites : public UnguardedWrites {
 public:
  drogon::Task<Announcement> insert(Sql& sql, std::int64_t festivalId,
                                    const NewAnnouncement& announcement) const override;
  drogon::Task<> pin(Sql& sql, std::int64_t festivalId, std::int64_t id) const override;
  drogon::Task<Reservation> sell(Sql& sql, SeatSale& sale) const override;
  drogon::Task<CouponClaim> grant(Sql& sql, const CouponGrant& grant) const override;
  drogon::Task<EventDates::Row> addDate(Sql& sql, std::int64_t festivalId,
                                        const std::string& date) const override;
  drogon::Task<> changeDate(Sql& sql, std::int64_t id, const std::string& date) const override;
  drogon::Task<Questions::Row> addQuestion(Sql& sql, std::int64_t festivalId,
                                           const Questions::Item& item,
                                           std::int64_t sequence) const override;
  drogon::Task<> moveQuestions(Sql& sql, std::int64_t festivalId,
                               const std::vector<QuestionPlace>& places) const override;
};

}  // namespace festa
