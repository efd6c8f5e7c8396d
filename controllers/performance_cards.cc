#include "controllers/performance_cards.h"

#include "controllers/performance_json.h"

namespace festa {

PerformanceCards::Card PerformanceCards::kept(std::int64_t id) const {
  const std::lock_guard guard(mutex_);
  const auto found = cards_.find(id);
  return found != cards_.end() && Clock::now() < found->second.ends ? found->second.text : nullptr;
}

void PerformanceCards::keep(std::int64_t id, Kept card) {
  const std::lock_guard guard(mutex_);
  if (cards_.size() >= capacity_) cards_.clear();  // rare, and refilled by a query each
  cards_[id] = std::move(card);
}

drogon::Task<PerformanceCards::Card> PerformanceCards::of(std::int64_t id) {
  auto known = kept(id);
  if (known) co_return known;
  const auto asked = Clock::now();
  const auto performance = co_await service_.find(id);
  JsonWriter json;
  write(json, performance);
  auto text = std::make_shared<const std::string>(json.take());
  keep(id, {text, asked + kLifetime});
  co_return text;
}

}  // namespace festa
