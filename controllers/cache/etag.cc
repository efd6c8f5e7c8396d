#include "controllers/cache/etag.h"

#include <drogon/utils/Utilities.h>

namespace festa {

namespace {

constexpr std::size_t kDigits = 32;  // 128 bits

std::string_view withoutSeparators(std::string_view text) {
  const auto start = text.find_first_not_of(" \t,");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

}  // namespace

std::string etagOf(std::string_view text) {
  return '"' + drogon::utils::getBlake2b(text.data(), text.size()).substr(0, kDigits) + '"';
}

bool namesEtag(std::string_view ifNoneMatch, std::string_view etag) {
  auto rest = withoutSeparators(ifNoneMatch);
  if (rest == "*") return true;
  while (!rest.empty()) {
    if (rest.starts_with("W/")) rest.remove_prefix(2);
    if (!rest.starts_with('"')) return false;
    const auto end = rest.find('"', 1);
    if (end == std::string_view::npos) return false;
    if (rest.substr(0, end + 1) == etag) return true;
    rest = withoutSeparators(rest.substr(end + 1));
  }
  return false;
}

}  // namespace festa
