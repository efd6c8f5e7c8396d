#include "controllers/seats/performance_cards.h"

#include "controllers/seats/performance_json.h"

namespace festa {

std::optional<std::string> PerformanceCards::kept(std::int64_t id) const {
  const std::lock_guard guard(mutex_);
  const auto found = cards_.find(id);
  const bool isFresh = found != cards_.end() && Clock::now() < found->second.ends;
  return isFresh ? std::optional(found->second.text) : std::nullopt;
}

void PerformanceCards::keep(std::int64_t id, Kept card) {
  const std::lock_guard guard(mutex_);
  if (cards_.size() >= capacity_) cards_.clear();  // rare, and refilled by a query each
  cards_[id] = std::move(card);
}

drogon::Task<std::string> PerformanceCards::of(std::int64_t id) {
  auto known = kept(id);
  if (known) co_return std::move(*known);
  const auto asked = Clock::now();
  const auto performance = co_await service_.find(id);
  JsonWriter json;
  write(json, performance);
  auto text = json.take();
  keep(id, {text, asked + kLifetime});
  co_return text;
}

}  // namespace festa
