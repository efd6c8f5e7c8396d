// Dates and date-times as clients write them. Only those that a calendar has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace festa {

// yyyy-MM-dd, years 0001 to 9999.
bool isCalendarDate(std::string_view text);

// HH:mm, 00:00 to 23:59.
bool isHourAndMinute(std::string_view text);

// `yyyy-MM-dd HH:mm:ss`, or ISO 8601 with a T, where seconds and up to six fraction digits may be
// left out and an offset may follow: Z or ±HH:mm.
//   without an offset: yyyy-MM-ddTHH:mm:ss.ffffff, in the service's time zone, which PostgreSQL
//   knows
//   with one: the same moment in UTC, yyyy-MM-ddTHH:mm:ss.ffffffZ; one that might be in another
//   year than 1 to 9999 in some zone is refused
std::optional<std::string> canonicalTime(std::string_view text);

// Of two canonical times. nullopt: one has an offset and the other has not, so that their order
// depends on the time zone.
std::optional<bool> isBefore(const std::string& one, const std::string& other);

}  // namespace festa
