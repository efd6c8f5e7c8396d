// Sends a race's events to one reader.
#pragma once

#include "app/lab/race/race_record.h"
#include "controllers/live/event_sink.h"
#include "controllers/live/readers.h"

#include <memory>

namespace festa {

// Not thread-safe.
class RaceWatcher {
 public:
  RaceWatcher(std::shared_ptr<const RaceRecord> race, std::unique_ptr<EventSink> out)
      : race_(std::move(race)), out_(std::move(out)) {}

  // Sends what is new, as long as the reader takes it: the rest is sent later, so that nothing
  // piles up. False: the race is over and told, or the reader has gone or has not read for too
  // long.
  bool goesOn(ReaderPatience::Time now) {
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

 private:
  std::shared_ptr<const RaceRecord> race_;
  std::unique_ptr<EventSink> out_;
  std::size_t told_ = 0;  // events
  ReaderPatience patience_;
};

}  // namespace festa
