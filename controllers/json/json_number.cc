#include "controllers/json/json_number.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace festa {

namespace {

// Larger than the length of any body, so that sums with it cannot overflow and lengths cannot
// outweigh it.
constexpr std::int64_t kHugeExponent = 1'000'000'000'000;
constexpr std::int64_t kMostDigits = 19;  // of a 64-bit number

// `text` is what follows the letter e.
std::int64_t exponentIn(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto end = text.data() + text.size();
  const bool overflows = std::from_chars(text.data(), end, exponent).ec != std::errc();
  if (overflows) return text.starts_with('-') ? -kHugeExponent : kHugeExponent;
  return std::clamp(exponent, -kHugeExponent, kHugeExponent);
}

// digits × 10^exponent; no leading and no trailing zeros, zero itself has no digits.
struct Decimal {
  std::string digits;
  std::int64_t exponent;
};

Decimal decimalIn(std::string_view unsignedLiteral) {
  const auto letter = std::min(unsignedLiteral.find_first_of("eE"), unsignedLiteral.size());
  Decimal number{std::string(unsignedLiteral.substr(0, letter)), 0};
  if (letter < unsignedLiteral.size())
    number.exponent = exponentIn(unsignedLiteral.substr(letter + 1));
  auto& digits = number.digits;
  if (const auto point = digits.find('.'); point != std::string::npos) {
    number.exponent -= static_cast<std::int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  const auto significant = digits.find_last_not_of('0') + 1;
  number.exponent += static_cast<std::int64_t>(digits.size() - significant);
  digits.resize(significant);
  return number;
}

}  // namespace

std::optional<std::int64_t> wholeNumber(std::string_view literal) {
  const bool isNegative = literal.starts_with('-');
  auto [digits, exponent] = decimalIn(literal.substr(isNegative ? 1 : 0));
  if (digits.empty()) return 0;
  if (exponent < 0 || static_cast<std::int64_t>(digits.size()) + exponent > kMostDigits)
    return std::nullopt;
  digits.append(static_cast<std::size_t>(exponent), '0');
  if (isNegative) digits.insert(0, 1, '-');
  std::int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace festa
