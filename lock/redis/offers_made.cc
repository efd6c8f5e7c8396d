#include "lock/redis/offers_made.h"

namespace festa::lock {

void OffersMade::offered(const LockKey& key, SteadyTime now) {
  const auto [offer, isNew] = last_.insert_or_assign(key, now);
  if (isNew) due_.set(key, now + kOfferTime + kLookMargin);
}

void OffersMade::looked(const LockKey& key, bool unfinished, SteadyTime now) {
  const auto offer = last_.find(key);
  if (offer == last_.end()) return;
  const auto end = offer->second + kOfferTime + kLookMargin;
  if (unfinished)
    due_.set(key, now);
  else if (end > now)
    due_.set(key, end);  // offered again since
  else
    last_.erase(offer);
}

void OffersMade::lost(const LockKey& key, SteadyTime now) {
  if (last_.contains(key)) due_.set(key, now + kAgainAfterLoss);
}

void OffersMade::clear() {
  last_.clear();
  due_.clear();
}

}  // namespace festa::lock
