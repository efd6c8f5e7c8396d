// Performances as JSON text, kept for a second: every reservation's answer carries one.
#pragma once

#include "services/performance_service.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace festa {

// Thread-safe.
class PerformanceCards {
 public:
  using Clock = std::chrono::steady_clock;
  using Find = std::function<drogon::Task<Performance>(std::int64_t id)>;
  static constexpr std::chrono::seconds kLifetime{1};

  PerformanceCards(Find find, std::size_t capacity,
                   std::function<Clock::time_point()> now = Clock::now)
      : find_(std::move(find)), capacity_(capacity), now_(std::move(now)) {}

  // At most a second old. Throws what `find` throws.
  drogon::Task<std::shared_ptr<const std::string>> of(std::int64_t id);

 private:
  struct Card {
    std::shared_ptr<const std::string> text;
    Clock::time_point ends;
  };

  std::shared_ptr<const std::string> kept(std::int64_t id) const;
  void keep(std::int64_t id, Card card);

  const Find find_;
  const std::size_t capacity_;
  const std::function<Clock::time_point()> now_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Card> cards_;  // guarded by mutex_
};

}  // namespace festa
