// The rows by which the instances of a service know of each other.
#pragma once

#include "app/database_clients.h"
#include "controllers/http/drain.h"
#include "lock/lock_board.h"
#include "services/periodic_task.h"

#include <cstdint>
#include <string>
#include <vector>

namespace festa {

// One process as its row says.
struct InstanceRow {
  std::string name;
  std::int64_t upSeconds;
  std::int64_t seenMillisAgo;
  std::int64_t holding;
  std::int64_t waiting;
  std::int64_t inFlight;
};

// Writes this process's row every two seconds, on the watch client, and sweeps rows that are older
// than a minute.
class InstanceRows : public PeriodicTask {
 public:
  static constexpr std::size_t kMostRows = 100;

  // All outlive stop().
  InstanceRows(const DatabaseClients& database, const lock::LockBoard& board, const Drain& drain,
               std::string name);

  const std::string& name() const { return name_; }
  std::int64_t upSeconds() const;

  // By name, at most kMostRows. Awaited on an IO loop. Throws what the database does.
  drogon::Task<std::vector<InstanceRow>> read() const;

 private:
  drogon::Task<> work() override;
  void log(bool fails, const std::string& text) const override;

  const DatabaseClients& database_;
  const lock::LockBoard& board_;
  const Drain& drain_;
  const std::string name_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace festa
