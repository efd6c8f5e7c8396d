#include "app/lab/race/race_watcher.h"

namespace festa {

bool RaceWatcher::goesOn(ReaderPatience::Time now) {
  const bool isBehind = out_->isBehind();
  if (!out_->isConnected() || !patience_.lasts(now, isBehind)) return false;
  if (isBehind) return true;
  const bool isOver = race_->isOver();
  const auto events = race_->eventsSince(told_);
  for (const auto& event : events) {
    ++told_;
    if (!out_->send(event)) return false;
    if (out_->isBehind()) return true;
  }
  return !isOver;
}

}  // namespace festa
