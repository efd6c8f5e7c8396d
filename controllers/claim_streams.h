// Server-sent events: a claim on every change.
#pragma once

#include "controllers/stream_places.h"
#include "services/queued_claims.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <chrono>
#include <list>
#include <memory>
#include <mutex>

namespace trantor {
class EventLoop;
}

namespace festa {

// All streams of this process are fed by one query every fifth of a second, and by none while there
// are no streams. Thread-safe.
class ClaimStreams : public std::enable_shared_from_this<ClaimStreams> {
 public:
  // `claims` outlives the streams.
  ClaimStreams(const ClaimReader& claims, std::shared_ptr<StreamPlaces> places)
      : claims_(claims), places_(std::move(places)) {}

  // Once, when the loop runs.
  void start(trantor::EventLoop* loop);
  // Ends all streams; there will be no more.
  void close();

  // An answer that begins with the claim as it is, and ends when the claim is finished or the
  // token, at `expiresAt`, whichever is first. Where Drogon sends no streams (HEAD, HTTP/1.0,
  // connections that close) it is that one event. The claim's user needs a place for it; throws
  // what StreamPlaces::take() throws, and ServiceError(kShuttingDown) after close().
  drogon::HttpResponsePtr open(const drogon::HttpRequestPtr& request, const ClaimView& claim,
                               std::chrono::sys_seconds expiresAt);

 private:
  struct Stream {
    ClaimView last;
    std::shared_ptr<StreamPlaces::Place> place;
    std::chrono::sys_seconds expiresAt;
    std::weak_ptr<trantor::TcpConnection> connection;
    drogon::ResponseStreamPtr out = {};  // null until Drogon has sent the headers
    int quietRounds = 0;
  };

  void begin(Stream stream);
  drogon::AsyncTask feed();
  // Those whose token is over or whose reader has gone, whatever the database does.
  void endOver();
  std::vector<std::int64_t> watched() const;
  void tell(const std::vector<ClaimView>& claims);
  // Says to this reader what is new; false: it was the last event, or nobody listens.
  static bool goesOn(Stream& stream, const ClaimView* now);
  template <class IsOver>
  void endIf(IsOver isOver);

  const ClaimReader& claims_;
  const std::shared_ptr<StreamPlaces> places_;
  mutable std::mutex mutex_;
  std::list<Stream> streams_;  // guarded by mutex_
  bool closed_ = false;        // guarded by mutex_
  bool feeding_ = false;       // on the loop only
};

}  // namespace festa
