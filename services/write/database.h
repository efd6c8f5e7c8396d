// How services reach the database, and how they write what no lock guards.
#pragma once

#include "services/write/receipt.h"

#include <chrono>

// How times leave the database: ISO local date-times in the session's zone, six fraction digits. A
// macro because it becomes part of literals: statements are cached by their text.
#define FESTA_LOCAL_TIME(column) "to_char(" column ", 'YYYY-MM-DD\"T\"HH24:MI:SS.US')"

namespace festa {

struct WriteSettings {
  std::chrono::milliseconds commitTimeout{700};
  int conflictRetries = 30;
};

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

// inTransaction without a deadline, for writes that no lock guards.
template <class Body>
drogon::Task<WrittenBy<Body>> plainWrite(const Database& database, Body& body,
                                         const Receipt<WrittenBy<Body>>* receipt = nullptr) {
  TransactionOptions options;
  options.commitTimeout = database.settings.commitTimeout;
  BodyWithReceipt<Body> whole{body, receipt};
  co_return co_await inTransaction(database.client(), options, whole);
}

}  // namespace festa
