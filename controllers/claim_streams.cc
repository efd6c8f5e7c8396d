#include "controllers/claim_streams.h"

#include "controllers/claim_json.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <map>

namespace festa {

namespace {

constexpr double kFeedEvery = 0.2;
constexpr int kQuietRounds = 50;  // then a comment shows whether anybody still listens

std::string eventOf(const ClaimView& claim) {
  return "data: " + render(claim) + "\n\n";
}

bool mayStream(const drogon::HttpRequestPtr& request) {
  auto connection = request->getHeader("connection");
  for (char& c : connection) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return !request->isHead() && connection != "close" &&
         request->version() == drogon::Version::kHttp11;
}

}  // namespace

void ClaimStreams::start(trantor::EventLoop* loop) {
  loop->runEvery(kFeedEvery, [self = shared_from_this()] { self->feed(); });
}

void ClaimStreams::close() {
  std::list<Stream> ended;
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    ended.swap(streams_);
  }
  for (auto& stream : ended) stream.out->close();
}

void ClaimStreams::begin(Stream stream) {
  const bool stays = stream.out->send(eventOf(stream.last)) && !stream.last.isFinished();
  const std::lock_guard guard(mutex_);
  if (stays && !closed_)
    streams_.push_back(std::move(stream));
  else
    stream.out->close();
}

drogon::HttpResponsePtr ClaimStreams::open(const drogon::HttpRequestPtr& request,
                                           const ClaimView& claim,
                                           std::chrono::sys_seconds expiresAt) {
  {
    const std::lock_guard guard(mutex_);
    if (closed_) throw ServiceError(ErrorCode::kShuttingDown);
  }
  // Shared with the answer, which is copied; begin() empties it.
  const auto stream = std::make_shared<Stream>(
      Stream{claim, places_->take(claim.userId), expiresAt, request->getConnectionPtr()});
  const bool canStream = mayStream(request);
  auto response = canStream
                      ? drogon::HttpResponse::newAsyncStreamResponse(
                            [self = shared_from_this(), stream](drogon::ResponseStreamPtr out) {
                              stream->out = std::move(out);
                              self->begin(std::move(*stream));
                            },
                            true)
                      : drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_CUSTOM);
  if (!canStream) response->setBody(eventOf(claim));
  response->setContentTypeString("text/event-stream; charset=utf-8");
  response->addHeader("Cache-Control", "no-store");
  return response;
}

template <class IsOver>
void ClaimStreams::endIf(IsOver isOver) {
  std::list<Stream> ended;
  {
    const std::lock_guard guard(mutex_);
    for (auto at = streams_.begin(); at != streams_.end();) {
      const auto stream = at++;
      if (isOver(*stream)) ended.splice(ended.end(), streams_, stream);
    }
  }
  for (auto& stream : ended) stream.out->close();
}

void ClaimStreams::endOver() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  endIf([now](const Stream& stream) {
    const auto connection = stream.connection.lock();
    return stream.expiresAt <= now || !connection || !connection->connected();
  });
}

std::vector<std::int64_t> ClaimStreams::watched() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::int64_t> ids;
  for (const auto& stream : streams_) ids.push_back(stream.last.id);
  return ids;
}

void ClaimStreams::tell(const std::vector<ClaimView>& claims) {
  std::map<std::int64_t, const ClaimView*> now;
  for (const auto& claim : claims) now[claim.id] = &claim;
  endIf([&](Stream& stream) {
    const auto found = now.find(stream.last.id);
    return !goesOn(stream, found != now.end() ? found->second : nullptr);
  });
}

bool ClaimStreams::goesOn(Stream& stream, const ClaimView* now) {
  bool listens = true;
  if (now != nullptr && *now != stream.last) {
    stream.last = *now;
    stream.quietRounds = 0;
    listens = stream.out->send(eventOf(stream.last));
  } else if (++stream.quietRounds >= kQuietRounds) {
    stream.quietRounds = 0;
    listens = stream.out->send(": still here\n\n");
  }
  return listens && !stream.last.isFinished();
}

drogon::AsyncTask ClaimStreams::feed() {
  const auto self = shared_from_this();
  endOver();
  if (feeding_) co_return;
  const auto ids = watched();
  if (ids.empty()) co_return;
  feeding_ = true;
  try {
    const auto claims = co_await claims_.find(ids);
    tell(claims);
  } catch (const std::exception& error) {
    LOG_WARN << "event streams were not fed: " << error.what();
  }
  feeding_ = false;
}

}  // namespace festa
