// What was found at a festival and waits for its owner.
#pragma once

#include "services/festivals/festival_items.h"

namespace festa {

struct LostItems : FestivalKind {
  struct Item {
    std::string imageUrl;
    std::string storageLocation;
  };
  struct Row {
    std::int64_t id = 0;
    Item item;
    std::string pickupStatus;  // PENDING or COMPLETED
    std::string createdAt;     // ISO local date-time
  };

  static const FestivalTable& table();
  static auto values(const Item& item) { return std::tie(item.imageUrl, item.storageLocation); }
  static Row read(const drogon::orm::Row& row);
};

// In the order in which they were found.
class LostItemService : public FestivalItems<LostItems> {
 public:
  using FestivalItems::FestivalItems;

  drogon::Task<LostItems::Row> setStatus(std::int64_t festivalId, std::int64_t id,
                                         std::string pickupStatus,
                                         const Receipt<LostItems::Row>* receipt = nullptr) const;
};

}  // namespace festa
