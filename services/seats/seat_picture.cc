#include "services/seats/seat_picture.h"

#include <algorithm>

namespace festa {

namespace {

constexpr std::size_t kBits = 8;

bool haveSameShape(const SeatPicture& before, const SeatPicture& after) {
  return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const SectionPicture& a, const SectionPicture& b) {
                      return a.location == b.location && a.count == b.count;
                    });
}

void addChanges(SeatChanges& changes, const SectionPicture& before, const SectionPicture& after) {
  for (std::size_t byte = 0; byte < after.sold.size(); ++byte) {
    const unsigned now = static_cast<unsigned char>(after.sold[byte]);
    const unsigned different = now ^ static_cast<unsigned char>(before.sold[byte]);
    for (std::size_t bit = 0; different != 0 && bit < kBits; ++bit) {
      if (((different >> bit) & 1U) == 0) continue;
      auto& into = ((now >> bit) & 1U) != 0 ? changes.sold : changes.free;
      into.push_back({after.location, static_cast<std::int32_t>(byte * kBits + bit + 1)});
    }
  }
}

}  // namespace

std::string bitmapOf(std::string_view flags) {
  std::string bytes((flags.size() + kBits - 1) / kBits, '\0');
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (flags[i] == '1')
      bytes[i / kBits] =
          static_cast<char>(static_cast<unsigned char>(bytes[i / kBits]) | (1U << (i % kBits)));
  return bytes;
}

std::optional<SeatChanges> changesBetween(const SeatPicture& before, const SeatPicture& after) {
  if (!haveSameShape(before, after)) return std::nullopt;
  SeatChanges changes;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (before[i] != after[i]) addChanges(changes, before[i], after[i]);
  return changes;
}

}  // namespace festa
