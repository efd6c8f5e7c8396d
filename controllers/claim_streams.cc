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

std::size_t ClaimStreams::size() const {
  const std::lock_guard guard(mutex_);
  return streams_.size();
}

ClaimStreams::Slot::Slot(std::shared_ptr<ClaimStreams> streams) : streams_(std::move(streams)) {
  const std::lock_guard guard(streams_->mutex_);
  if (streams_->closed_) throw ServiceError(ErrorCode::kShuttingDown);
  if (streams_->streams_.size() + streams_->opening_ >= streams_->capacity_)
    throw ServiceError(ErrorCode::kOverloaded, "too many event streams");
  ++streams_->opening_;
}

ClaimStreams::Slot::~Slot() {
  const std::lock_guard guard(streams_->mutex_);
  --streams_->opening_;
}

void ClaimStreams::begin(const ClaimView& claim, drogon::ResponseStreamPtr out) {
  const bool stays = out->send(eventOf(claim)) && !claim.isFinished();
  const std::lock_guard guard(mutex_);
  if (stays && !closed_)
    streams_.push_back({claim, std::move(out)});
  else
    out->close();
}

drogon::HttpResponsePtr ClaimStreams::open(const drogon::HttpRequestPtr& request,
                                           const ClaimView& claim) {
  auto slot = std::make_shared<Slot>(shared_from_this());
  const bool canStream = mayStream(request);
  auto response =
      canStream ? drogon::HttpResponse::newAsyncStreamResponse(
                      [self = shared_from_this(), claim, slot](drogon::ResponseStreamPtr out) {
                        self->begin(claim, std::move(out));
                      },
                      true)
                : drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_CUSTOM);
  if (!canStream) response->setBody(eventOf(claim));
  response->setContentTypeString("text/event-stream; charset=utf-8");
  response->addHeader("Cache-Control", "no-store");
  return response;
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
  const std::lock_guard guard(mutex_);
  std::erase_if(streams_, [&](Stream& stream) {
    const auto found = now.find(stream.last.id);
    const bool isNews = found != now.end() && *found->second != stream.last;
    bool listens = true;
    if (isNews) {
      stream.last = *found->second;
      stream.quietRounds = 0;
      listens = stream.out->send(eventOf(stream.last));
    } else if (++stream.quietRounds >= kQuietRounds) {
      stream.quietRounds = 0;
      listens = stream.out->send(": still here\n\n");
    }
    if (listens && !stream.last.isFinished()) return false;
    stream.out->close();
    return true;
  });
}

drogon::AsyncTask ClaimStreams::feed() {
  const auto self = shared_from_this();
  if (feeding_) co_return;
  const auto ids = watched();
  if (ids.empty()) co_return;
  feeding_ = true;
  try {
    const auto claims = co_await claims_->find(ids);
    tell(claims);
  } catch (const std::exception& error) {
    LOG_WARN << "event streams were not fed: " << error.what();
  }
  feeding_ = false;
}

}  // namespace festa
