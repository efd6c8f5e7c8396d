// Festivals: what councils, announcements and their limit belong to.
#pragma once

#include "services/write/database.h"

#include <string>
#include <vector>

namespace festa {

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

// What a council may change of its festival.
struct FestivalInformation {
  std::string festivalName;
  std::string startDate;
  std::string endDate;
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

  // These throw ServiceError(kFestivalNotFound), too, and return the festival's id or its guide.
  drogon::Task<std::int64_t> setInformation(std::int64_t id, FestivalInformation information,
                                            const Receipt<std::int64_t>* receipt = nullptr) const;
  drogon::Task<std::string> lostItemGuide(std::int64_t id) const;
  drogon::Task<std::string> setLostItemGuide(std::int64_t id, std::string guide,
                                             const Receipt<std::string>* receipt = nullptr) const;

  // Visible festivals of universities whose name contains `universityName`, whatever its case: the
  // oldest kMostUniversities of them.
  static constexpr int kMostUniversities = 500;
  drogon::Task<std::vector<Festival>> visibleAt(std::string universityName) const;

 private:
  const Database& database_;
};

}  // namespace festa
