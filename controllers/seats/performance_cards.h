// Performances as JSON text, kept for a second: every reservation's answer carries one.
#pragma once

#include "services/seats/performance_service.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace festa {

// Thread-safe.
class PerformanceCards {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLifetime{1};

  // `service` outlives it.
  PerformanceCards(const PerformanceService& service, std::size_t capacity)
      : service_(service), capacity_(capacity) {}

  // At most a second old. Throws what PerformanceService::find() throws.
  drogon::Task<std::string> of(std::int64_t id);

 private:
  struct Kept {
    std::string text;
    Clock::time_point ends;
  };

  std::optional<std::string> kept(std::int64_t id) const;
  void keep(std::int64_t id, Kept card);

  const PerformanceService& service_;
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Kept> cards_;  // guarded by mutex_
};

}  // namespace festa
