// Answers that are streams of server-sent events, and how many there may be.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/stream_bounds.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace festa {

// Places for streams of one kind: so many in all, so many for one user; and the streams of one
// address, of all kinds, are bounded by StreamBounds. Thread-safe.
class StreamPlaces : public std::enable_shared_from_this<StreamPlaces> {
 public:
  using User = std::optional<std::int64_t>;  // nullopt: a reader without a name

  StreamPlaces(std::shared_ptr<StreamBounds> bounds, std::size_t inAll, std::size_t perUser)
      : bounds_(std::move(bounds)), inAll_(inAll), perUser_(perUser) {}

  // One reader's place. The destructor gives it back.
  class Place {
   public:
    // See take().
    Place(std::shared_ptr<StreamPlaces> places, const std::string& address, User user);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    StreamBounds::Stream& stream() const { return *stream_; }

   private:
    const std::shared_ptr<StreamPlaces> places_;
    const std::unique_ptr<StreamBounds::Stream> stream_;
    const User user_;
  };

  // Throws ServiceError: kRateLimited when the address or the user has all of their places,
  // kOverloaded when all places are taken. Shared, because the callbacks of an answer are copied.
  std::shared_ptr<Place> take(const std::string& address, User user = std::nullopt);
  // For the client that asks.
  std::shared_ptr<Place> take(const drogon::HttpRequest& request, User user = std::nullopt);

 private:
  const std::shared_ptr<StreamBounds> bounds_;
  const std::size_t inAll_;
  const std::size_t perUser_;
  std::mutex mutex_;
  // guarded by mutex_
  std::size_t taken_ = 0;
  std::unordered_map<std::int64_t, std::size_t> byUser_;  // users that have a place
};

// Drogon sends streams to requests of HTTP/1.1 whose connection stays, other than HEAD.
bool mayStream(const drogon::HttpRequestPtr& request);

// 200 with a stream that holds `place` until it ends, and its connection with it: no request is
// read behind a stream. `begin` gets the sink when Drogon has sent the headers, on the connection's
// loop, and hands it to a feed. Where mayStream() is false the answer is `once` and `begin` is not
// called.
drogon::HttpResponsePtr eventStream(const drogon::HttpRequestPtr& request,
                                    std::shared_ptr<StreamPlaces::Place> place,
                                    const std::string& once,
                                    std::function<void(std::unique_ptr<EventSink>)> begin);

}  // namespace festa
