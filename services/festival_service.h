// Festivals: what councils, announcements and their limit belong to.
#pragma once

#include "services/database.h"

#include <string>

namespace festa {

// How writes to what belongs to a festival are guarded.
const GuardedTable& guardedFestivals();

struct NewFestival {
  std::string universityName;
  std::string festivalName;
  std::string startDate;  // ISO dates
  std::string endDate;
};

struct Festival {
  std::int64_t id = 0;
  NewFestival data;
  bool userVisible = false;
};

class FestivalService {
 public:
  explicit FestivalService(const Database& database) : database_(database) {}

  // Not visible to users; its id.
  drogon::Task<std::int64_t> create(NewFestival festival,
                                    const Receipt<std::int64_t>* receipt = nullptr) const;
  // Throws ServiceError(kFestivalNotFound).
  drogon::Task<Festival> find(std::int64_t id) const;

 private:
  const Database& database_;
};

}  // namespace festa
