// The `festival: <id>` header by which public reads say which festival they mean.
#pragma once

#include "controllers/request_context.h"

#include <any>

namespace festa {

struct FestivalHeader {
  std::int64_t festivalId;
};

// Both throw ServiceError(kInvalidParameter) when it is missing or not an id.
inline std::int64_t festivalIdIn(const drogon::HttpRequest& request) {
  return parseId(request.getHeader("festival"), "header festival");
}
inline std::any parseFestivalHeader(const drogon::HttpRequestPtr& request, const RequestContext&) {
  return FestivalHeader{festivalIdIn(*request)};
}

}  // namespace festa
