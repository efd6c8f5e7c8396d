// An announcement of a festival.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace festa {

struct NewAnnouncement {
  std::string title;
  std::string content;
  bool isPinned = false;
  std::optional<std::int64_t> insteadOf = {};  // see PinChange
};

struct PinChange {
  bool pinned = false;
  // Another announcement of the festival, which is unpinned in the same transaction: it makes room.
  // Only with a pin.
  std::optional<std::int64_t> insteadOf = {};
};

struct Announcement {
  std::int64_t id = 0;
  std::string title;
  std::string content;
  bool isPinned = false;
  std::string createdAt;  // ISO local date-time in the configured zone, six fraction digits
};

}  // namespace festa
