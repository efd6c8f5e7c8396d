#include "controllers/live/stream_places.h"

#include "services/error.h"

namespace festa {

StreamPlaces::Place::Place(std::shared_ptr<StreamPlaces> places, const std::string& address,
                           User user)
    : places_(std::move(places)), stream_(places_->bounds_->open(address)), user_(user) {
  const std::lock_guard guard(places_->mutex_);
  const auto own = user_ ? places_->byUser_.find(*user_) : places_->byUser_.end();
  const auto taken = own == places_->byUser_.end() ? 0 : own->second;
  if (user_ && taken >= places_->perUser_)
    throw ServiceError(ErrorCode::kRateLimited, "too many event streams of one user");
  if (places_->taken_ >= places_->inAll_)
    throw ServiceError(ErrorCode::kOverloaded, "too many event streams");
  if (user_) places_->byUser_[*user_] = taken + 1;
  ++places_->taken_;
}

StreamPlaces::Place::~Place() {
  const std::lock_guard guard(places_->mutex_);
  --places_->taken_;
  if (!user_) return;
  const auto own = places_->byUser_.find(*user_);
  if (--own->second == 0) places_->byUser_.erase(own);
}

std::shared_ptr<StreamPlaces::Place> StreamPlaces::take(const std::string& address, User user) {
  return std::make_shared<Place>(shared_from_this(), address, user);
}

std::shared_ptr<StreamPlaces::Place> StreamPlaces::take(const drogon::HttpRequest& request,
                                                        User user) {
  return take(bounds_->addressOf(request), user);
}

}  // namespace festa
