// One stream that two feeds write to.
#pragma once

#include "controllers/live/event_sink.h"

#include <memory>

namespace festa {

// Two ends of one sink, for different threads. When one of them is destroyed, the stream ends, and
// the other says that the reader has gone. What either has sent counts for both: the reader is
// behind for both, or for neither.
struct SharedSink {
  explicit SharedSink(std::unique_ptr<EventSink> sink);

  std::unique_ptr<EventSink> first;
  std::unique_ptr<EventSink> second;
};

}  // namespace festa
