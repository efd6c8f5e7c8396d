// An announcement of a festival.
#pragma once

#include <cstdint>
#include <string>

namespace festa {

struct NewAnnouncement {
  std::string title;
  std::string content;
  bool isPinned = false;
};

struct Announcement {
  std::int64_t id = 0;
  std::string title;
  std::string content;
  bool isPinned = false;
  std::string createdAt;  // ISO local date-time in the configured zone, six fraction digits
};

}  // namespace festa
