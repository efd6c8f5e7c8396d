// The `festival: <id>` header by which public reads say which festival they mean.
#pragma once

#include "controllers/request_context.h"

#include <any>

namespace festa {

struct FestivalHeader {
  std::int64_t festivalId;
};

// Throws ServiceError(kInvalidParameter) when it is missing or not an id.
inline std::any parseFestivalHeader(const drogon::HttpRequestPtr& request, const RequestContext&) {
  return FestivalHeader{parseId(request->getHeader("festival"), "header festival")};
}

}  // namespace festa
