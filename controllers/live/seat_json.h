// The seats of a hall in event streams.
#pragma once

#include "controllers/live/seat_feed.h"

namespace festa {

// `snapshot` {"sections":[{location,count,sold}]}, where `sold` is the bitmap in base64, and
// `changes` {"sold":[[location,number]],"free":[…]}.
class SeatEventText : public SeatEvents {
 public:
  std::string snapshot(const SeatPicture& picture) const override;
  std::string changes(const SeatChanges& changes) const override;
};

}  // namespace festa
