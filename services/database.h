// How services reach the database.
#pragma once

#include "services/guarded_write.h"

#include <functional>

namespace festa {

struct Database {
  // The client of the calling event loop; awaiting its statements resumes on that loop.
  std::function<drogon::orm::DbClientPtr()> client;
  WriteSettings settings;
};

}  // namespace festa
