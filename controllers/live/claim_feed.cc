#include "controllers/live/claim_feed.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <map>

namespace festa {

namespace {

constexpr double kFeedEvery = 0.2;
constexpr std::chrono::seconds kLongestLook{5};
constexpr int kQuietRounds = 50;  // then a comment shows whether the reader is still there

}  // namespace

void ClaimFeed::start(trantor::EventLoop* loop) {
  loop->runEvery(kFeedEvery, [self = shared_from_this()] { self->feed(); });
}

void ClaimFeed::stop() {
  turn_.stop(kLongestLook);
}

void ClaimFeed::add(const ClaimView& claim, std::chrono::sys_seconds expiresAt,
                    std::unique_ptr<EventSink> sink) {
  const bool stays = sink->send(events_.event(claim)) && !claim.isFinished();
  if (stays) readers_.add({claim, expiresAt, std::move(sink), {}});
}

void ClaimFeed::endOver() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  readers_.keepIf(
      [now](const Reader& reader) { return reader.expiresAt > now && reader.sink->isConnected(); });
}

std::vector<std::int64_t> ClaimFeed::watched() const {
  std::vector<std::int64_t> ids;
  readers_.each([&](const Reader& reader) { ids.push_back(reader.last.id); });
  return ids;
}

void ClaimFeed::tell(const std::vector<ClaimView>& claims) {
  std::map<std::int64_t, const ClaimView*> now;
  for (const auto& claim : claims) now[claim.id] = &claim;
  readers_.keepIf([&](Reader& reader) {
    const auto found = now.find(reader.last.id);
    return goesOn(reader, found != now.end() ? found->second : nullptr);
  });
}

bool ClaimFeed::goesOn(Reader& reader, const ClaimView* now) const {
  const bool isBehind = reader.sink->isBehind();
  if (!reader.patience.lasts(std::chrono::steady_clock::now(), isBehind)) return false;
  if (isBehind) return true;
  bool listens = true;
  if (now != nullptr && *now != reader.last) {
    reader.last = *now;
    reader.quietRounds = 0;
    listens = reader.sink->send(events_.event(reader.last));
  } else if (++reader.quietRounds >= kQuietRounds) {
    reader.quietRounds = 0;
    listens = reader.sink->send(kStillHere);
  }
  return listens && !reader.last.isFinished();
}

drogon::AsyncTask ClaimFeed::feed() {
  const auto self = shared_from_this();
  endOver();
  const auto ids = watched();
  if (ids.empty() || !turn_.begin()) co_return;
  try {
    const auto claims = co_await claims_.find(ids);
    tell(claims);
  } catch (const std::exception& error) {
    LOG_WARN << "event streams were not fed: " << error.what();
  }
  turn_.end();
}

}  // namespace festa
