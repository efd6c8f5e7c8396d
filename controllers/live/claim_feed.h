// Tells readers every change of their claim.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/look_turn.h"
#include "controllers/live/reader_patience.h"
#include "controllers/live/readers.h"
#include "services/coupons/queued_claims.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace trantor {
class EventLoop;
}

namespace festa {

// How a claim is written in a stream. Thread-safe.
class ClaimEvents {
 public:
  virtual ~ClaimEvents() = default;
  virtual std::string event(const ClaimView& claim) const = 0;
};

// All readers of this process are fed by one query every fifth of a second, and by none while there
// are no readers. Thread-safe.
class ClaimFeed : public std::enable_shared_from_this<ClaimFeed> {
 public:
  // Both outlive the feed.
  ClaimFeed(const ClaimReader& claims, const ClaimEvents& events)
      : claims_(claims), events_(events) {}

  // Once, when the loop runs.
  void start(trantor::EventLoop* loop);
  // Ends all streams; there will be no more.
  void close() { readers_.close(); }
  bool isClosed() const { return readers_.isClosed(); }
  // Waits for the query that is under way; there will be no more. While the loop still runs, and
  // not on it.
  void stop();

  // Tells the claim as it is and then every change. The stream ends when the claim is finished or
  // the token, at `expiresAt`, whichever is first.
  void add(const ClaimView& claim, std::chrono::sys_seconds expiresAt,
           std::unique_ptr<EventSink> sink);

 private:
  struct Reader {
    ClaimView last;
    std::chrono::sys_seconds expiresAt;
    std::unique_ptr<EventSink> sink;
    ReaderPatience patience;
    int quietRounds = 0;
  };

  drogon::AsyncTask feed();
  // Ends the streams whose token is over or whose reader has gone, also while the database is away.
  void endOver();
  std::vector<std::int64_t> watched() const;
  void tell(const std::vector<ClaimView>& claims);
  // Says to this reader what is new, unless it has yet to read what it was sent before; false: it
  // was the last event, or the reader has gone or has not read for too long.
  bool goesOn(Reader& reader, const ClaimView* now) const;

  const ClaimReader& claims_;
  const ClaimEvents& events_;
  Readers<Reader> readers_;
  LookTurn turn_;
};

}  // namespace festa
