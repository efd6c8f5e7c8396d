#include "lock/redis/line/heartbeat.h"

#include <utility>

namespace festa::lock {

void Heartbeat::start(SteadyTime now) {
  if (at_) return;
  // Messages that arrived the last time are trusted to do so again until a beat has no echo.
  if (messages_ != Messages::kLost) messages_ = Messages::kArrive;
  at_ = messages_ == Messages::kLost ? now : now + kEvery;
  isUnderWay_ = false;
}

Heartbeat::Due Heartbeat::beat(SteadyTime now) {
  if (messages_ == Messages::kOverdue) messages_ = Messages::kLost;
  if (messages_ == Messages::kExpected) messages_ = Messages::kOverdue;
  const bool isDeaf = messages_ == Messages::kLost;
  at_ = now + (isDeaf ? kEveryWhileDeaf : kEvery);
  const bool isSent = !std::exchange(isUnderWay_, true);
  if (!isSent || isDeaf) return {.look = isDeaf, .send = isSent};
  if (messages_ == Messages::kArrive) messages_ = Messages::kExpected;
  sent_.push_back(now);
  if (sent_.size() > kRemembered) sent_.pop_front();
  return {.send = true, .number = ++lastNumber_};
}

std::optional<SteadyTime> Heartbeat::sentAt(std::uint64_t number) const {
  if (number > lastNumber_ || number + sent_.size() <= lastNumber_) return std::nullopt;
  return sent_[sent_.size() - 1 - (lastNumber_ - number)];
}

bool Heartbeat::heard() {
  return std::exchange(messages_, Messages::kArrive) == Messages::kLost;
}

}  // namespace festa::lock
