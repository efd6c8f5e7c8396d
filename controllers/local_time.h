// Dates and date-times without a zone, as clients write them. Only those that a calendar has.
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
// left out. Returned as yyyy-MM-ddTHH:mm:ss.ffffff, so that earlier times are smaller texts.
std::optional<std::string> canonicalLocalTime(std::string_view text);

}  // namespace festa
