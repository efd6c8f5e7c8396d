// Success answers in JSON, and the envelope around those of users, performances and reservations.
#pragma once

#include <drogon/HttpResponse.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace festa {

drogon::HttpResponsePtr jsonResponse(drogon::HttpStatusCode status, std::string body);
drogon::HttpResponsePtr emptyResponse(drogon::HttpStatusCode status);

// {"content":…,"meta":{…}} around JSON text.
std::string contentEnvelope(std::string_view content);

struct Paging {
  std::int64_t totalCount = 0;
  std::int64_t currentPage = 0;  // from 0
  std::int64_t perPage = 10;
};

// {"items":…,"meta":{…},"paging":{…}} around the JSON text of an array.
std::string listEnvelope(std::string_view items, const Paging& paging);

}  // namespace festa
