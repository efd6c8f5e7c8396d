#include "controllers/json/local_time.h"

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

namespace {

// yyyy-MM-ddTHH:mm:ss.ffffff of what is written without an offset.
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

// What stands behind the T of an ISO 8601 time: Z or ±HH:mm; empty when there is none.
std::string_view offsetIn(std::string_view text) {
  if (text.size() <= kDate || text[kDate] != 'T') return {};
  const auto at = text.find_first_of("Z+-", kDate);
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

std::optional<std::chrono::minutes> minutesOf(std::string_view offset) {
  if (offset == "Z") return std::chrono::minutes(0);
  if (offset[0] == 'Z' || !isHourAndMinute(offset.substr(1))) return std::nullopt;
  const std::chrono::minutes length(numberAt(offset, 1, 2) * 60 + numberAt(offset, 4, 2));
  return offset[0] == '-' ? -length : length;
}

std::string padded(int number, std::size_t digits) {
  auto text = std::to_string(number);
  return text.insert(0, digits - std::min(digits, text.size()), '0');
}

// A canonical local time that was written `offset` ahead of UTC.
std::optional<std::string> inUtc(const std::string& local, std::chrono::minutes offset) {
  using namespace std::chrono;
  const sys_days date(year_month_day(year(numberAt(local, 0, 4)),
                                     month(static_cast<unsigned>(numberAt(local, 5, 2))),
                                     day(static_cast<unsigned>(numberAt(local, 8, 2)))));
  const auto moment = date + hours(numberAt(local, 11, 2)) + minutes(numberAt(local, 14, 2));
  const auto utc = moment - offset;
  const auto utcDate = floor<days>(utc);
  // In another zone it may be a day earlier or later.
  if (utcDate <= sys_days(year(1) / January / 1) || utcDate >= sys_days(year(9999) / December / 31))
    return std::nullopt;
  const year_month_day shown(utcDate);
  const hh_mm_ss time(utc - utcDate);
  return padded(static_cast<int>(shown.year()), 4) + '-' +
         padded(static_cast<int>(static_cast<unsigned>(shown.month())), 2) + '-' +
         padded(static_cast<int>(static_cast<unsigned>(shown.day())), 2) + 'T' +
         padded(static_cast<int>(time.hours().count()), 2) + ':' +
         padded(static_cast<int>(time.minutes().count()), 2) + local.substr(16) + 'Z';
}

}  // namespace

std::optional<std::string> canonicalTime(std::string_view text) {
  const auto offset = offsetIn(text);
  auto local = canonicalLocalTime(text.substr(0, text.size() - offset.size()));
  if (!local || offset.empty()) return local;
  const auto ahead = minutesOf(offset);
  return ahead ? inUtc(*local, *ahead) : std::nullopt;
}

std::optional<bool> isBefore(const std::string& one, const std::string& other) {
  if (one.ends_with('Z') != other.ends_with('Z')) return std::nullopt;
  return one < other;
}

}  // namespace festa
