// Which festival a request means: reads say it in the header `festival: <id>`, writes by their
// token.
#pragma once

#include "controllers/http/asked.h"

namespace festa {

// Throws ServiceError(kInvalidParameter) when it is missing or not an id.
inline std::int64_t festivalIdIn(const Asked& asked) {
  return parseId(asked.request().getHeader("festival"), inHeader("festival"));
}

// Of a caller who is a council or an admin.
inline std::int64_t festivalOf(const Caller& council) {
  return *council.festivalId;
}

}  // namespace festa
