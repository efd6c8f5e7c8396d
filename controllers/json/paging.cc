#include "controllers/json/paging.h"

#include "controllers/http/asked.h"

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
  return parseNumber(found->second, inQuery(name), least, most);
}

}  // namespace

void refuseOtherPaging(const drogon::HttpRequest& request, Paged list) {
  if (list == Paged::kNoList || list == Paged::kByPage) return;
  for (const std::string word : {"page", "perPage", "after"}) {
    if (list == Paged::kByAfter && word == "after") continue;
    if (!request.parameters().contains(word)) continue;
    if (list == Paged::kByAfter)
      throw invalidParameter(inQuery(word), "이 목록은 after로만 이어서 읽습니다.",
                             "is not known here; this list is continued by after");
    throw invalidParameter(inQuery(word), "이 목록은 나누지 않고 전부 답합니다.",
                           "is not known here; this list is always answered as a whole");
  }
}

PageRequest parsePaging(const drogon::HttpRequest& request) {
  const auto perPage = numberOf(request, "perPage", 1, kMaxPerPage);
  const auto page = numberOf(request, "page", 0, kMaxPage);
  const auto after = numberOf(request, "after", 0, std::numeric_limits<std::int64_t>::max());
  if (page && after)
    throw invalidParameter(inQuery("after"), "page와 함께 쓸 수 없습니다.",
                           "must not be there together with page");
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
