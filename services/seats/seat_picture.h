// Which seats of a hall are sold, and what has changed between two looks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace festa {

struct SectionPicture {
  std::string location;
  std::int32_t count = 0;  // seats 1 … count
  std::string sold;        // a bitmap, see bitmapOf()

  bool operator==(const SectionPicture&) const = default;
};

// By location.
using SeatPicture = std::vector<SectionPicture>;

struct NumberedSeat {
  std::string location;
  std::int32_t number = 0;

  bool operator==(const NumberedSeat&) const = default;
};

struct SeatChanges {
  std::vector<NumberedSeat> sold;
  std::vector<NumberedSeat> free;

  bool empty() const { return sold.empty() && free.empty(); }
};

// One bit per flag, '1' or '0': flag i is bit i % 8 of byte i / 8, the lowest bit first. Bits
// behind the last flag are 0.
std::string bitmapOf(std::string_view flags);

// By location and number. nullopt: they have other sections, or sections of another size.
std::optional<SeatChanges> changesBetween(const SeatPicture& before, const SeatPicture& after);

}  // namespace festa
