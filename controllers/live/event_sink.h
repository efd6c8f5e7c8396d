// Where the events of one stream go, and how they are written.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace festa {

// One reader of server-sent events, over any transport. The destructor ends the stream. Calls must
// be serialised; they need not come from one thread.
class EventSink {
 public:
  EventSink() = default;
  virtual ~EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  // Takes whole events or comments, each with its empty line, and does not wait. Returns false when
  // the reader has gone.
  virtual bool send(const std::string& events) = 0;
  virtual bool isConnected() const = 0;
  // Whether the reader takes less than it is sent: what is sent now is kept in memory until it
  // reads.
  virtual bool isBehind() const = 0;
  // Whether it is not behind, and there is room for much at once besides what other streams are
  // sent.
  virtual bool takesPages() const = 0;
  // This stream's part of all streams of its reader's address: 1 when it is the only one.
  virtual double shareOfAddress() const = 0;
};

// Two ends of one sink, for different threads. When one of them is destroyed, the stream ends, and
// the other says that the reader has gone. What either has sent counts for both: the reader is
// behind for both, or for neither.
struct SharedSink {
  explicit SharedSink(std::unique_ptr<EventSink> sink);

  std::unique_ptr<EventSink> first;
  std::unique_ptr<EventSink> second;
};

// The fields of a server-sent event. Empty ones are not written. None may contain a line break.
struct EventFields {
  std::string_view id = {};  // with which a reader that has lost its connection comes back
  std::string_view event = {};
  std::string_view data = {};
};

// The event as it is sent, with its empty line.
std::string eventText(const EventFields& fields);

// A comment for a silent stream: it shows whether the reader is still there, and keeps proxies from
// ending the stream.
inline const std::string kStillHere = ": still here\n\n";
// Browsers wait for a second before they come back.
inline const std::string kComeBackSoon = "retry: 1000\n\n";

}  // namespace festa
