// One stream that two feeds write to.
#pragma once

#include "services/live/event_sink.h"

#include <memory>

namespace festa {

// Two ends of one sink, for different threads. When one of them is destroyed, the stream ends, and
// the other says that the reader has gone.
struct SharedSink {
  explicit SharedSink(std::unique_ptr<EventSink> sink);

  std::unique_ptr<EventSink> first;
  // For a feed that says little: it is never behind. The feed of `first` ends the stream of a
  // reader that does not read.
  std::unique_ptr<EventSink> second;
};

}  // namespace festa
