// Lists read page by page.
#pragma once

#include <cstdint>
#include <vector>

namespace festa {

// Rows with an id above `after`, of which `offset()` are skipped. Deep pages cost what they skip,
// `after` does not.
struct PageRequest {
  std::int64_t page = 0;
  std::int64_t perPage = 10;
  std::int64_t after = 0;

  std::int64_t offset() const { return page * perPage; }
};

template <class Item>
struct Page {
  std::vector<Item> items;
  std::int64_t totalCount = 0;  // of the whole list
};

}  // namespace festa
