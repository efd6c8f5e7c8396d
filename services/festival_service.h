// Festivals: what councils, announcements and their limit belong to.
#pragma once

#include "services/database.h"

#include <string>

namespace festa {

// The fence that guarded writes of a festival raise first.
const FencedTable& festivalFences();

struct NewFestival {
  std::string universityName;
  std::string festivalName;
  std::string startDate;  // ISO dates
  std::string endDate;
};

struct Festival {
  std::int64_t id = 0;
  NewFestival data;
  bool userVisible = true;
};

class FestivalService {
 public:
  explicit FestivalService(Database database) : database_(std::move(database)) {}

  drogon::Task<std::int64_t> create(NewFestival festival) const;
  // Throws ServiceError(kFestivalNotFound).
  drogon::Task<Festival> find(std::int64_t id) const;

 private:
  const Database database_;
};

}  // namespace festa
