#include "controllers/local_time.h"

#include <algorithm>
#include <chrono>

namespace festa {

namespace {

constexpr std::size_t kDate = 10;  // length of yyyy-MM-dd
constexpr std::size_t kFraction = 6;

bool areDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `pattern` has a 0 wherever a digit must be; the rest is taken literally.
bool hasShape(std::string_view text, std::string_view pattern) {
  return text.size() == pattern.size() &&
         std::equal(text.begin(), text.end(), pattern.begin(), [](char c, char expected) {
           return expected == '0' ? c >= '0' && c <= '9' : c == expected;
         });
}

int numberAt(std::string_view text, std::size_t start, std::size_t length) {
  int number = 0;
  for (const char digit : text.substr(start, length)) number = number * 10 + (digit - '0');
  return number;
}

bool isClockTime(std::string_view text) {
  return hasShape(text, "00:00:00") && numberAt(text, 0, 2) < 24 && numberAt(text, 3, 2) < 60 &&
         numberAt(text, 6, 2) < 60;
}

}  // namespace

bool isCalendarDate(std::string_view text) {
  if (!hasShape(text, "0000-00-00")) return false;
  const std::chrono::year_month_day date(
      std::chrono::year(numberAt(text, 0, 4)),
      std::chrono::month(static_cast<unsigned>(numberAt(text, 5, 2))),
      std::chrono::day(static_cast<unsigned>(numberAt(text, 8, 2))));
  return date.ok() && date.year() >= std::chrono::year(1);
}

bool isHourAndMinute(std::string_view text) {
  return hasShape(text, "00:00") && numberAt(text, 0, 2) < 24 && numberAt(text, 3, 2) < 60;
}

std::optional<std::string> canonicalLocalTime(std::string_view text) {
  if (text.size() <= kDate || !isCalendarDate(text.substr(0, kDate))) return std::nullopt;
  const char separator = text[kDate];
  if (separator != 'T' && separator != ' ') return std::nullopt;
  std::string time(text.substr(kDate + 1));
  std::string fraction;
  if (separator == 'T') {
    if (const auto dot = time.find('.'); dot != std::string::npos) {
      fraction = time.substr(dot + 1);
      if (fraction.empty() || fraction.size() > kFraction || !areDigits(fraction))
        return std::nullopt;
      time.resize(dot);
    } else if (hasShape(time, "00:00")) {
      time += ":00";
    }
  }
  if (!isClockTime(time)) return std::nullopt;
  fraction.resize(kFraction, '0');
  return std::string(text.substr(0, kDate)) + 'T' + time + '.' + fraction;
}

}  // namespace festa
