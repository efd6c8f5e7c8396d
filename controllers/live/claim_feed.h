// Tells readers every change of their claim.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/readers.h"
#include "services/coupons/queued_claims.h"
#include "services/periodic_task.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace festa {

// {claimId,state,ahead,sequence,code}; what it does not have is null.
std::string render(const ClaimView& claim);
// The event whose data is that.
std::string eventOf(const ClaimView& claim);

// All readers of this process are fed by one query every fifth of a second, and by none while there
// are no readers. Thread-safe. The website starts it, closes it when it refuses requests, and stops
// it before the database clients end.
class ClaimFeed : public PeriodicTask {
 public:
  // `claims` outlives stop().
  explicit ClaimFeed(const ClaimReader& claims);

  // Ends all streams; there will be no more.
  void close() { readers_.close(); }
  bool isClosed() const { return readers_.isClosed(); }

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

  // Ends the streams whose token is over or whose reader has gone, also while the database is away.
  // Returns whether there are others.
  bool isDue() override;
  drogon::Task<> work() override;
  std::vector<std::int64_t> watched() const;
  void tell(const std::vector<ClaimView>& claims);
  // Says to this reader what is new, unless it has yet to read what it was sent before; false: it
  // was the last event, or the reader has gone or has not read for too long.
  static bool goesOn(Reader& reader, const ClaimView* now);

  const ClaimReader& claims_;
  Readers<Reader> readers_;
};

}  // namespace festa
