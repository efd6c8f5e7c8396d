// The days of a festival on which something happens, each of them once.
#pragma once

#include "services/festivals/festival_items.h"
#include "services/write/guarded_write.h"

namespace festa {

struct EventDates : FestivalKind {
  struct Item {
    std::string date;  // ISO
  };
  struct Row {
    std::int64_t id = 0;
    Item item;
  };

  static const FestivalTable& table();
  static auto values(const Item& item) { return std::tie(item.date); }
  static Row read(const drogon::orm::Row& row);
};

// Listed by date. A date that goes takes its events with it. Creates and changes of one festival
// must be protected by the same guard; a date that the festival has already is
// ServiceError(kAlreadyRegisteredEventDate).
class EventDateService : public FestivalItems<EventDates> {
 public:
  using FestivalItems::FestivalItems;
  virtual ~EventDateService() = default;

  drogon::Task<EventDates::Row> create(std::int64_t festivalId, EventDates::Item item,
                                       WriteGuard& guard,
                                       const Receipt<EventDates::Row>* receipt = nullptr) const;
  drogon::Task<EventDates::Row> change(std::int64_t festivalId, std::int64_t id,
                                       EventDates::Item item, WriteGuard& guard,
                                       const Receipt<EventDates::Row>* receipt = nullptr) const;

 protected:
  // Steps of create() and change(), in their transaction, whose guard is open and in which the date
  // was seen to be free. A concurrent writer that takes it nevertheless makes them a conflict.
  virtual drogon::Task<EventDates::Row> insertDate(Sql& sql, std::int64_t festivalId,
                                                   const std::string& date,
                                                   const WriteGuard& guard) const;
  virtual drogon::Task<EventDates::Row> updateDate(Sql& sql, std::int64_t id,
                                                   const std::string& date,
                                                   const WriteGuard& guard) const;

 private:
  drogon::Task<EventDates::Row> insertOnce(Sql& sql, std::int64_t festivalId,
                                           const std::string& date, const WriteGuard& guard) const;
  drogon::Task<EventDates::Row> updateOnce(Sql& sql, std::int64_t festivalId, std::int64_t id,
                                           const std::string& date, const WriteGuard& guard) const;
};

}  // namespace festa
