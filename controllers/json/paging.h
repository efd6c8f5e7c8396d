// Which page of a list a request asks for: `page` from 0 or `after=<id>`, and `perPage`.
#pragma once

#include "controllers/http/route_table.h"
#include "controllers/json/responses.h"
#include "services/page.h"

#include <drogon/HttpRequest.h>

namespace festa {

inline constexpr std::int64_t kMaxPerPage = 500;

// Throws ServiceError(kInvalidParameter) for words of paging that a list does not take.
void refuseOtherPaging(const drogon::HttpRequest& request, Paged list);

// Throws ServiceError(kInvalidParameter): not a number, out of range, or both `page` and `after`.
PageRequest parsePaging(const drogon::HttpRequest& request);

// What the envelope says about the page; read by `after`, a page has no number and is called 0.
Paging pagingOf(const PageRequest& request, std::int64_t totalCount);

}  // namespace festa
