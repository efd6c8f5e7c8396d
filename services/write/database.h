// How services reach the database.
#pragma once

#include "services/write/guarded_write.h"

namespace festa {

// Thread-safe; outlives the services.
class Database {
 public:
  explicit Database(WriteSettings writes) : settings(writes) {}
  virtual ~Database() = default;

  // The client of the calling event loop; awaiting its statements resumes on that loop. It may be
  // kept while the loop runs.
  virtual drogon::orm::DbClientPtr client() const = 0;
  // The same for statements that write for several requests, see batches.h and shared_grant.h.
  virtual drogon::orm::DbClientPtr batchClient() const = 0;

  const WriteSettings settings;
};

}  // namespace festa
