#include "controllers/event_stream.h"

#include "controllers/unsent_bytes.h"

#include <trantor/net/TcpConnection.h>

#include <cctype>

namespace festa {

namespace {

class HttpEventSink : public EventSink {
 public:
  HttpEventSink(drogon::ResponseStreamPtr out, std::weak_ptr<trantor::TcpConnection> connection,
                std::shared_ptr<StreamPlaces::Place> place)
      : out_(std::move(out)),
        connection_(std::move(connection)),
        place_(std::move(place)),
        unsent_(sentSoFar()) {}

  bool send(const std::string& events) override {
    unsent_.handOver(events.size(), sentSoFar());
    return out_->send(events);
  }

  bool isConnected() const override {
    const auto connection = connection_.lock();
    return connection && connection->connected();
  }

  bool isBehind() const override { return unsent_.isBehind(sentSoFar()); }

 private:
  std::size_t sentSoFar() const {
    const auto connection = connection_.lock();
    return connection ? connection->bytesSent() : 0;
  }

  const drogon::ResponseStreamPtr out_;
  const std::weak_ptr<trantor::TcpConnection> connection_;
  const std::shared_ptr<StreamPlaces::Place> place_;
  UnsentBytes unsent_;
};

}  // namespace

bool mayStream(const drogon::HttpRequestPtr& request) {
  auto connection = request->getHeader("connection");
  for (char& c : connection) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return !request->isHead() && connection != "close" &&
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
