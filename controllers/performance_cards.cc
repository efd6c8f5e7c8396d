#include "controllers/performance_cards.h"

#include "controllers/performance_json.h"

namespace festa {

std::shared_ptr<const std::string> PerformanceCards::kept(std::int64_t id) const {
  const std::lock_guard guard(mutex_);
  const auto found = cards_.find(id);
  return found != cards_.end() && now_() < found->second.ends ? found->second.text : nullptr;
}

void PerformanceCards::keep(std::int64_t id, Card card) {
  const std::lock_guard guard(mutex_);
  if (cards_.size() >= capacity_) cards_.clear();  // rare, and refilled by a query each
  cards_[id] = std::move(card);
}

drogon::Task<std::shared_ptr<const std::string>> PerformanceCards::of(std::int64_t id) {
  auto known = kept(id);
  if (known) co_return known;
  const auto asked = now_();
  const auto performance = co_await find_(id);
  JsonWriter json;
  write(json, performance);
  auto text = std::make_shared<const std::string>(json.take());
  keep(id, {text, asked + kLifetime});
  co_return text;
}

}  // namespace festa
