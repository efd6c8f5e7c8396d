#include "controllers/live/claim_feed.h"

#include "controllers/json/json_writer.h"

#include <map>

namespace festa {

namespace {

constexpr std::chrono::milliseconds kClaimsEvery{200};
constexpr int kQuietClaimRounds = 50;  // then a comment shows whether the reader is still there

}  // namespace

std::string render(const ClaimView& claim) {
  JsonWriter json;
  json.beginObject()
      .member("claimId", claim.id)
      .member("state", claim.state)
      .member("ahead", claim.ahead)
      .member("sequence", claim.sequence)
      .member("code", claim.code);
  return json.endObject().take();
}

std::string eventOf(const ClaimView& claim) {
  return eventText({.data = render(claim)});
}

ClaimFeed::ClaimFeed(const ClaimReader& claims)
    : PeriodicTask(kClaimsEvery, {.fails = "claims cannot be read for their event streams",
                                  .worksAgain = "claims are read again for their event streams"}),
      claims_(claims) {}

void ClaimFeed::add(const ClaimView& claim, std::chrono::sys_seconds expiresAt,
                    std::unique_ptr<EventSink> sink) {
  const bool stays = sink->send(eventOf(claim)) && !claim.isFinished();
  if (stays) readers_.add({claim, expiresAt, std::move(sink), {}});
}

bool ClaimFeed::isDue() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  readers_.keepIf(
      [now](const Reader& reader) { return reader.expiresAt > now && reader.sink->isConnected(); });
  return readers_.size() > 0;
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

bool ClaimFeed::goesOn(Reader& reader, const ClaimView* now) {
  const bool isBehind = reader.sink->isBehind();
  if (!reader.patience.lasts(std::chrono::steady_clock::now(), isBehind)) return false;
  if (isBehind) return true;
  bool listens = true;
  if (now != nullptr && *now != reader.last) {
    reader.last = *now;
    reader.quietRounds = 0;
    listens = reader.sink->send(eventOf(reader.last));
  } else if (++reader.quietRounds >= kQuietClaimRounds) {
    reader.quietRounds = 0;
    listens = reader.sink->send(kStillHere);
  }
  return listens && !reader.last.isFinished();
}

drogon::Task<> ClaimFeed::work() {
  const auto ids = watched();
  const auto claims = co_await claims_.find(ids);
  tell(claims);
}

}  // namespace festa
