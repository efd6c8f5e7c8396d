#include "services/accounts/login_name.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace festa {

namespace {

std::vector<utf8proc_int32_t> codePointsOf(const std::string& text) {
  std::vector<utf8proc_int32_t> codePoints;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t codePoint = 0;
    const auto bytes = utf8proc_iterate(at, left, &codePoint);
    if (bytes <= 0) break;  // not UTF-8; the callers have checked that
    codePoints.push_back(codePoint);
    at += bytes;
    left -= bytes;
  }
  return codePoints;
}

bool isInvisible(utf8proc_int32_t codePoint) {
  if (utf8proc_get_property(codePoint)->ignorable != 0) return true;
  switch (utf8proc_category(codePoint)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return false;
  }
}

bool isSpace(utf8proc_int32_t codePoint) {
  return utf8proc_category(codePoint) == UTF8PROC_CATEGORY_ZS;
}

}  // namespace

std::string toNfc(const std::string& text) {
  utf8proc_uint8_t* normal = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &normal,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(normal, &std::free);
  if (length < 0) throw std::bad_alloc();  // the only way in which valid UTF-8 can fail
  return {reinterpret_cast<const char*>(normal), static_cast<std::size_t>(length)};
}

bool hasInvisible(const std::string& text) {
  for (const auto codePoint : codePointsOf(text))
    if (isInvisible(codePoint)) return true;
  return false;
}

bool hasSpaceAtEnds(const std::string& text) {
  const auto codePoints = codePointsOf(text);
  return !codePoints.empty() && (isSpace(codePoints.front()) || isSpace(codePoints.back()));
}

}  // namespace festa
