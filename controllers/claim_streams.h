// Server-sent events: a claim on every change.
#pragma once

#include "services/queued_claims.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <atomic>
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
  ClaimStreams(std::shared_ptr<const ClaimReader> claims, std::size_t capacity)
      : claims_(std::move(claims)), capacity_(capacity) {}

  // Once, when the loop runs.
  void start(trantor::EventLoop* loop);
  // Ends all streams; there will be no more.
  void close();

  // An answer that begins with the claim as it is and ends when it is finished. Where Drogon sends
  // no streams (HEAD, HTTP/1.0, connections that close) it is that one event. Throws
  // ServiceError(kOverloaded) beyond the capacity.
  drogon::HttpResponsePtr open(const drogon::HttpRequestPtr& request, const ClaimView& claim);

  std::size_t size() const;

 private:
  // A place for a stream that is promised, for as long as its answer lives or until it has begun.
  class Slot {
   public:
    explicit Slot(std::shared_ptr<ClaimStreams> streams);  // throws
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    const std::shared_ptr<ClaimStreams> streams_;
  };
  struct Stream {
    ClaimView last;
    drogon::ResponseStreamPtr out;
    int quietRounds = 0;
  };

  void begin(const ClaimView& claim, drogon::ResponseStreamPtr out);
  drogon::AsyncTask feed();
  std::vector<std::int64_t> watched() const;
  void tell(const std::vector<ClaimView>& claims);

  const std::shared_ptr<const ClaimReader> claims_;
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Stream> streams_;  // guarded by mutex_
  std::size_t opening_ = 0;    // guarded by mutex_; promised, not yet in streams_
  bool closed_ = false;        // guarded by mutex_
  bool feeding_ = false;       // on the loop only
};

}  // namespace festa
