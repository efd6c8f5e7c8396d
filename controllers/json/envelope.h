// The envelope around the answers of users, performances and reservations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace festa {

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
