#include "controllers/live/event_stream.h"

#include "services/error.h"

#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

#include <cctype>
#include <sstream>

namespace festa {

namespace {

// A reader that does not close its side when the stream has ended is closed after so many seconds.
constexpr double kLinger = 5;

class HttpConnection : public StreamConnection {
 public:
  explicit HttpConnection(std::weak_ptr<trantor::TcpConnection> connection)
      : connection_(std::move(connection)) {}

  // It is atomic, as the connection's state is (trantor-connection.patch).
  std::size_t sent() const override {
    const auto connection = connection_.lock();
    return connection ? connection->bytesSent() : 0;
  }
  void close() override {
    if (const auto connection = connection_.lock()) connection->forceClose();
  }

 private:
  const std::weak_ptr<trantor::TcpConnection> connection_;
};

class HttpEventSink : public EventSink {
 public:
  HttpEventSink(drogon::ResponseStreamPtr out, std::weak_ptr<trantor::TcpConnection> connection,
                std::shared_ptr<StreamPlaces::Place> place)
      : out_(std::move(out)), connection_(std::move(connection)), place_(std::move(place)) {
    place_->stream().begin(std::make_unique<HttpConnection>(connection_));
  }

  // No request is read behind a stream (drogon-http-stop.patch): its connection ends with it, at
  // once if its reader has left more than a stream may leave. At a stop Drogon has ended it
  // already, and its loop may be gone.
  ~HttpEventSink() override {
    const bool isOverfull = place_->stream().isOverfull();
    place_.reset();  // a client that has read the end of its stream may begin another one
    out_.reset();
    const auto connection = connection_.lock();
    if (!connection || !connection->connected()) return;
    if (isOverfull)
      connection->forceClose();
    else
      end(*connection);
  }

  bool send(const std::string& events) override {
    place_->stream().handOver(events.size());
    return out_->send(events);
  }

  bool isConnected() const override {
    const auto connection = connection_.lock();
    return connection && connection->connected();
  }

  bool isBehind() const override { return place_->stream().isBehind(); }
  bool takesPages() const override { return place_->stream().takesPages(); }
  double shareOfAddress() const override { return place_->stream().shareOfAddress(); }

 private:
  // When its reader has taken the rest.
  void end(trantor::TcpConnection& connection) const {
    connection.shutdown();
    connection.getLoop()->runAfter(kLinger, [closing = connection_] {
      if (const auto stillOpen = closing.lock()) stillOpen->forceClose();
    });
  }

  drogon::ResponseStreamPtr out_;
  const std::weak_ptr<trantor::TcpConnection> connection_;
  std::shared_ptr<StreamPlaces::Place> place_;
};

// As Drogon reads it: a list in any case (RFC 9110, 7.6.1).
bool isClosedAfterwards(const drogon::HttpRequestPtr& request) {
  auto options = request->getHeader("connection");
  for (char& c : options) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::istringstream list(options);
  for (std::string option; std::getline(list, option, ',');) {
    const auto first = option.find_first_not_of(" \t");
    const auto last = option.find_last_not_of(" \t");
    if (first != std::string::npos && option.substr(first, last - first + 1) == "close")
      return true;
  }
  return false;
}

}  // namespace

StreamPlaces::Place::Place(std::shared_ptr<StreamPlaces> places, const std::string& address,
                           User user)
    : places_(std::move(places)), stream_(places_->bounds_->open(address)), user_(user) {
  const std::lock_guard guard(places_->mutex_);
  const auto own = user_ ? places_->byUser_.find(*user_) : places_->byUser_.end();
  const auto taken = own == places_->byUser_.end() ? 0 : own->second;
  if (user_ && taken >= places_->perUser_)
    throw ServiceError(ErrorCode::kRateLimited, "too many event streams of one user");
  if (places_->taken_ >= places_->inAll_)
    throw ServiceError(ErrorCode::kOverloaded, "too many event streams");
  if (user_) places_->byUser_[*user_] = taken + 1;
  ++places_->taken_;
}

StreamPlaces::Place::~Place() {
  const std::lock_guard guard(places_->mutex_);
  --places_->taken_;
  if (!user_) return;
  const auto own = places_->byUser_.find(*user_);
  if (--own->second == 0) places_->byUser_.erase(own);
}

std::shared_ptr<StreamPlaces::Place> StreamPlaces::take(const std::string& address, User user) {
  return std::make_shared<Place>(shared_from_this(), address, user);
}

std::shared_ptr<StreamPlaces::Place> StreamPlaces::take(const drogon::HttpRequest& request,
                                                        User user) {
  return take(bounds_->addressOf(request), user);
}

bool mayStream(const drogon::HttpRequestPtr& request) {
  return !request->isHead() && !isClosedAfterwards(request) &&
         request->version() == drogon::Version::kHttp11;
}

drogon::HttpResponsePtr eventStream(const drogon::HttpRequestPtr& request,
                                    std::shared_ptr<StreamPlaces::Place> place,
                                    const std::string& once,
                                    std::function<void(std::unique_ptr<EventSink>)> begin) {
  drogon::HttpResponsePtr response;
  if (mayStream(request)) {
    // The answer is copied and kept: its place is given to the sink, and goes with that.
    const auto given = std::make_shared<std::shared_ptr<StreamPlaces::Place>>(std::move(place));
    response = drogon::HttpResponse::newAsyncStreamResponse(
        [given, begin = std::move(begin),
         connection = request->getConnectionPtr()](drogon::ResponseStreamPtr out) {
          begin(std::make_unique<HttpEventSink>(std::move(out), connection, std::move(*given)));
        },
        true);
  } else {
    response = drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_CUSTOM);
    response->setBody(once);
  }
  response->setContentTypeString("text/event-stream; charset=utf-8");
  response->addHeader("Cache-Control", "no-store");
  return response;
}

}  // namespace festa
