#include "controllers/paging.h"

#include "services/error.h"

#include <charconv>
#include <limits>
#include <optional>

namespace festa {

namespace {

// Beyond it the number of rows to skip would not fit in 64 bits.
constexpr std::int64_t kMaxPage = std::numeric_limits<std::int64_t>::max() / kMaxPerPage;

std::optional<std::int64_t> numberOf(const drogon::HttpRequest& request, const std::string& name,
                                     std::int64_t least, std::int64_t most) {
  const auto found = request.parameters().find(name);
  if (found == request.parameters().end()) return std::nullopt;
  const auto& text = found->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    throw ServiceError(ErrorCode::kInvalidParameter, name + " is not a number in its range");
  return number;
}

}  // namespace

PageRequest parsePaging(const drogon::HttpRequest& request) {
  const auto perPage = numberOf(request, "perPage", 1, kMaxPerPage);
  const auto page = numberOf(request, "page", 0, kMaxPage);
  const auto after = numberOf(request, "after", 0, std::numeric_limits<std::int64_t>::max());
  if (page && after)
    throw ServiceError(ErrorCode::kInvalidParameter, "page and after exclude each other");
  PageRequest result;
  result.perPage = perPage.value_or(result.perPage);
  result.page = page.value_or(0);
  result.after = after.value_or(0);
  return result;
}

Paging pagingOf(const PageRequest& request, std::int64_t totalCount) {
  return {totalCount, request.page, request.perPage};
}

}  // namespace festa
