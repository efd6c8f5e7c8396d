// Where the events of one stream go.
#pragma once

#include <string>

namespace festa {

// One reader of server-sent events, over any transport. The destructor ends the stream. Not
// thread-safe; any thread may use it.
class EventSink {
 public:
  EventSink() = default;
  virtual ~EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  // Whole events or comments, each with its empty line. Does not wait. False: the reader has gone.
  virtual bool send(const std::string& events) = 0;
  // False: the reader has gone.
  virtual bool isConnected() const = 0;
  // The reader takes less than it is sent: what is sent now is kept in memory until it reads.
  virtual bool isBehind() const = 0;
  // It is not behind, and there is room for much at once besides what other streams are sent.
  virtual bool takesPages() const = 0;
  // This stream's part of all streams of its reader's address: 1 when it is the only one.
  virtual double shareOfAddress() const = 0;
};

// A comment for a silent stream: it shows whether the reader is still there, and keeps proxies from
// ending the stream.
inline const std::string kStillHere = ": still here\n\n";

}  // namespace festa
