// Performances as JSON.
#pragma once

#include "controllers/cache/single_flight_cache.h"
#include "controllers/json/json_writer.h"
#include "services/seats/performance_service.h"

#include <cstdint>
#include <string>

namespace festa {

void write(JsonWriter& json, const Performance& performance);

// Performances as JSON text, kept for a second: every reservation's answer carries one.
// Thread-safe.
class PerformanceJsonCache {
 public:
  // `service` outlives it. At most `capacity` performances are kept.
  PerformanceJsonCache(const PerformanceService& service, std::size_t capacity)
      : service_(service), texts_({.maxAge = std::chrono::seconds(1), .room = capacity}) {}

  // At most a second old. Throws what PerformanceService::find() throws.
  drogon::Task<std::string> of(std::int64_t id) {
    return texts_.get(id, [this, id] { return render(id); });
  }

 private:
  drogon::Task<std::string> render(std::int64_t id) const;

  const PerformanceService& service_;
  SingleFlightCache<std::int64_t, std::string> texts_;
};

}  // namespace festa
