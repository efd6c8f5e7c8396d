#include "lock/redis/line/offers_made.h"

namespace festa::lock {

void OffersMade::offered(const LockKey& key, Millis lasts, SteadyTime now) {
  const auto end = now + lasts + kLookMargin;
  const bool isNew = ends_.insert_or_assign(key, end).second;
  if (isNew || due_.contains(key)) due_.setEarlier(key, end);
}

void OffersMade::looked(const LockKey& key, bool unfinished, SteadyTime now) {
  const auto end = ends_.find(key);
  if (end == ends_.end()) return;
  if (unfinished)
    due_.set(key, now);
  else if (end->second > now)
    due_.set(key, end->second);  // offered again since
  else
    ends_.erase(end);
}

void OffersMade::lost(const LockKey& key, SteadyTime now) {
  if (ends_.contains(key)) due_.set(key, now + kAgainAfterLoss);
}

void OffersMade::clear() {
  ends_.clear();
  due_.clear();
}

}  // namespace festa::lock
