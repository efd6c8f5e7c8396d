// The `festival: <id>` header by which public reads say which festival they mean.
#pragma once

#include "controllers/asked.h"

namespace festa {

// Throws ServiceError(kInvalidParameter) when it is missing or not an id.
inline std::int64_t festivalIdIn(const Asked& asked) {
  return parseId(asked.request().getHeader("festival"), "header festival");
}

}  // namespace festa
