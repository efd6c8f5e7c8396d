// Performances as JSON text, kept for a second: every reservation's answer carries one.
#pragma once

#include "services/performance_service.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace festa {

// Thread-safe.
class PerformanceCards {
 public:
  using Clock = std::chrono::steady_clock;
  using Card = std::shared_ptr<const std::string>;  // outlives its place here while it is sent
  static constexpr std::chrono::seconds kLifetime{1};

  // `service` outlives it.
  PerformanceCards(const PerformanceService& service, std::size_t capacity)
      : service_(service), capacity_(capacity) {}

  // At most a second old. Throws what PerformanceService::find() throws.
  drogon::Task<Card> of(std::int64_t id);

 private:
  struct Kept {
    Card text;
    Clock::time_point ends;
  };

  Card kept(std::int64_t id) const;
  void keep(std::int64_t id, Kept card);

  const PerformanceService& service_;
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Kept> cards_;  // guarded by mutex_
};

}  // namespace festa
