// What happens on the dates of a festival.
#pragma once

#include "services/festivals/event_dates.h"

namespace festa {

struct Events : FestivalKind {
  struct Item {
    std::int64_t eventDateId = 0;
    std::string startTime;  // HH:mm
    std::string endTime;    // before startTime: on the next day
    std::string title;
    std::string location;
  };
  struct Row {
    std::int64_t id = 0;
    std::string status;  // UPCOMING, ONGOING or COMPLETED, by the database's clock
    std::string startTime;
    std::string endTime;
    std::string title;
    std::string location;
  };

  static const FestivalTable& table();
  static auto values(const Item& item) {
    return std::tie(item.eventDateId, item.startTime, item.endTime, item.title, item.location);
  }
  static Row read(const drogon::orm::Row& row);
  // Throws ServiceError: kEventDateNotFound, kEventDateNotInFestival.
  static drogon::Task<> requireReferences(Sql& sql, std::int64_t festivalId, const Item& item);
};

class EventService : public FestivalItems<Events> {
 public:
  using FestivalItems::FestivalItems;

  // By time. Throws ServiceError(kEventDateNotFound) unless the date is the festival's.
  drogon::Task<std::vector<Events::Row>> listOf(std::int64_t festivalId,
                                                std::int64_t eventDateId) const;
};

}  // namespace festa
