#include "lock/redis/heartbeat.h"

#include <utility>

namespace festa::lock {

void Heartbeat::start(SteadyTime now) {
  if (at_) return;
  // Messages that arrived the last time are trusted to do so again until a beat has no echo.
  if (messages_ == Messages::kExpected) messages_ = Messages::kArrive;
  at_ = messages_ == Messages::kLost ? now : now + kEvery;
  isUnderWay_ = false;
}

Heartbeat::Due Heartbeat::beat(SteadyTime now) {
  if (messages_ == Messages::kExpected) messages_ = Messages::kLost;
  const bool isDeaf = messages_ == Messages::kLost;
  at_ = now + (isDeaf ? kEveryWhileDeaf : kEvery);
  const bool isSent = !std::exchange(isUnderWay_, true);
  if (isSent && !isDeaf) messages_ = Messages::kExpected;
  return {.look = isDeaf, .send = isSent};
}

bool Heartbeat::heard() {
  return std::exchange(messages_, Messages::kArrive) == Messages::kLost;
}

}  // namespace festa::lock
