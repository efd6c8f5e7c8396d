#include "controllers/json/utf8.h"

#include <cstdint>

namespace festa {

namespace {

struct Decoded {
  std::uint32_t codePoint;
  std::size_t bytes;  // 0: not valid
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {0, 0};
  std::uint32_t codePoint = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    codePoint = codePoint << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && codePoint < 0x800) || (bytes == 4 && codePoint < 0x10000);
  const bool surrogate = codePoint >= 0xD800 && codePoint <= 0xDFFF;
  if (overlong || surrogate || codePoint > 0x10FFFF) return {0, 0};
  return {codePoint, bytes};
}

bool isSpace(std::uint32_t c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200B) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000 || c == 0xFEFF;
}

}  // namespace

std::optional<std::size_t> utf8Length(std::string_view text) {
  std::size_t length = 0;
  while (!text.empty()) {
    const auto bytes = decode(text).bytes;
    if (bytes == 0) return std::nullopt;
    text.remove_prefix(bytes);
    ++length;
  }
  return length;
}

std::string toUtf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const auto length = decode(bytes).bytes;
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

bool isBlank(std::string_view text) {
  while (!text.empty()) {
    const auto [codePoint, bytes] = decode(text);
    if (bytes == 0 || !isSpace(codePoint)) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace festa
