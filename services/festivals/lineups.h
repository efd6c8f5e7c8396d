// The line-up of a festival: its performers.
#pragma once

#include "services/festivals/festival_items.h"

namespace festa {

struct Lineups : FestivalKind {
  struct Item {
    std::string name;
    std::string imageUrl;       // may be empty
    std::string performanceAt;  // ISO local date-time
  };
  struct Row {
    std::int64_t id = 0;
    Item item;
  };

  static const FestivalTable& table();
  static auto values(const Item& item) {
    return std::tie(item.name, item.imageUrl, item.performanceAt);
  }
  static Row read(const drogon::orm::Row& row);
};

// Listed by the time of the performance.
using LineupService = FestivalItems<Lineups>;

}  // namespace festa
