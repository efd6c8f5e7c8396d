#include "lock/lock_hold.h"

namespace festa::lock {

namespace {
const std::string kAttribute = "festa.lock.hold";
}

drogon::Task<std::optional<std::int64_t>> LockHold::renewFence(std::int64_t above) {
  if (!lease_ || released_) co_return std::nullopt;
  Extension extension;
  extension.fenceAbove = above;
  const bool extended = co_await plan_.strategy.storage->extend(*lease_, extension);
  if (!extended) co_return std::nullopt;
  co_return lease_->fence;
}

drogon::Task<> LockHold::releaseEarly() {
  if (lease_) co_await release();
}

drogon::Task<Unlocked> LockHold::release() {
  if (released_) co_return Unlocked::kReleased;
  released_ = true;
  co_return co_await plan_.strategy.storage->unlock(*lease_);
}

std::shared_ptr<LockHold> holdOf(const drogon::HttpRequestPtr& request) {
  const auto& attributes = request->attributes();
  return attributes->find(kAttribute) ? attributes->get<std::shared_ptr<LockHold>>(kAttribute)
                                      : nullptr;
}

void attachHold(const drogon::HttpRequestPtr& request, std::shared_ptr<LockHold> hold) {
  request->attributes()->insert(kAttribute, std::move(hold));
}

}  // namespace festa::lock
