#include "app/lab/race/race_findings.h"

#include "lock/grant_order.h"

#include <algorithm>

namespace festa {

namespace {

// Has the lanes by place or prize, as indices.
using Places = std::map<std::string, std::vector<std::size_t>>;

// The nearest rank.
std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  const auto rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

// The one of `earlier` whose transaction ran longest while that of `late` did.
std::optional<RaceOverlap> overlapWith(const std::vector<RaceLane>& lanes, std::size_t late,
                                       const std::vector<std::size_t>& earlier) {
  std::optional<RaceOverlap> longest;
  for (const auto first : earlier) {
    const auto from = std::max(lanes[first].server.begun, lanes[late].server.begun);
    const auto to = std::min(lanes[first].server.ended, lanes[late].server.ended);
    const bool areKnown = lanes[first].server.begun > 0 && lanes[late].server.begun > 0;
    const auto most = longest ? longest->to - longest->from : 0;
    if (areKnown && to - from > most) longest = RaceOverlap{first, late, from, to};
  }
  return longest;
}

// The longest first.
void sortByLength(std::vector<RaceOverlap>& overlaps) {
  std::sort(overlaps.begin(), overlaps.end(), [](const RaceOverlap& a, const RaceOverlap& b) {
    return a.to - a.from > b.to - b.from;
  });
}

// `winners` are those of one prize. Finds for each beyond the limit, in the order of commits, one
// that it overlaps.
void findOverlaps(const std::vector<RaceLane>& lanes, std::vector<std::size_t> winners,
                  std::int64_t most, std::vector<RaceOverlap>& found) {
  std::sort(winners.begin(), winners.end(), [&](std::size_t a, std::size_t b) {
    return lanes[a].server.ended < lanes[b].server.ended;
  });
  for (std::size_t i = static_cast<std::size_t>(most); i < winners.size(); ++i) {
    if (found.size() >= kMostOverlaps) return;
    const std::vector<std::size_t> earlier(winners.begin(),
                                           winners.begin() + static_cast<std::ptrdiff_t>(i));
    if (const auto overlap = overlapWith(lanes, winners[i], earlier)) found.push_back(*overlap);
  }
}

lock::SteadyTime moment(std::int64_t nanos) {
  return lock::SteadyTime(std::chrono::nanoseconds(nanos));
}

// `granted` asked one storage for one place.
RaceOrder orderOf(const std::vector<RaceLane>& lanes, const std::vector<std::size_t>& granted) {
  std::vector<lock::OrderedGrant> grants;
  for (const auto lane : granted) {
    const auto& times = lanes[lane].server;
    grants.push_back({moment(times.asked), moment(times.received), times.fence});
  }
  return {static_cast<std::int64_t>(grants.size()),
          static_cast<std::int64_t>(lock::overtakingsIn(grants).size())};
}

}  // namespace

void RaceScore::add(const RaceLane& lane) {
  if (!lane.isAccepted()) return;
  ++accepted_;
  if (++winners_[lane.won] > mostPerPrize_) ++crowded_;
}

std::int64_t RaceScore::tooMany() const {
  return std::max(crowded_, accepted_ - mostInAll_ > 0 ? accepted_ - mostInAll_ : 0);
}

Percentiles percentilesOf(std::vector<std::int64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {static_cast<std::int64_t>(values.size()), percentile(values, 50), percentile(values, 90),
          percentile(values, 99), values.back()};
}

RaceFindings findingsOf(const std::vector<RaceLane>& lanes, std::int64_t mostPerPrize,
                        RaceStorage storage) {
  RaceFindings found;
  std::vector<std::int64_t> accepted, refused, wait, hold;
  Places winners, holders;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto& lane = lanes[i];
    const auto& server = lane.server;
    ++found.answers[{lane.status, lane.code}];
    if (!server.instance.empty()) ++found.instances[server.instance];
    (lane.isAccepted() ? accepted : refused).push_back(lane.answered - lane.sent);
    if (lane.isAccepted()) winners[lane.won].push_back(i);
    if (server.granted == 0 || server.fence == 0) continue;
    wait.push_back(server.granted - server.asked);
    hold.push_back(server.released - server.granted);
    const bool isShared = storage == RaceStorage::kShared;
    holders[lane.place + (isShared ? "" : ' ' + server.instance)].push_back(i);
  }
  found.accepted = percentilesOf(std::move(accepted));
  found.refused = percentilesOf(std::move(refused));
  found.wait = percentilesOf(std::move(wait));
  found.hold = percentilesOf(std::move(hold));
  for (const auto& [prize, all] : winners) findOverlaps(lanes, all, mostPerPrize, found.overlaps);
  sortByLength(found.overlaps);
  for (const auto& [place, all] : holders) {
    const auto order = orderOf(lanes, all);
    found.order.granted += order.granted;
    found.order.overtaken += order.overtaken;
  }
  return found;
}

const char* nameOf(RaceVerdict verdict) {
  switch (verdict) {
    case RaceVerdict::kHeld: return "held";
    case RaceVerdict::kLucky: return "lucky";
    case RaceVerdict::kBroken: return "broken";
  }
  return "?";
}

bool protects(const StrategyRow& row, const RaceWish& wish, std::size_t instances) {
  // Fences and constraints keep every rule without a lock, and behind one that fails.
  if (wish.backstop) return true;
  // Sales of seats and coupons update the row that they have read; a pin adds another row.
  if (row.refusesStaleUpdates) return wish.subject != RaceSubject::kPins;
  if (row.labOnly) return false;
  if (row.takesLock() && wish.releasesBeforeCommit) return false;
  return row.acrossProcesses || instances <= 1;
}

RaceVerdict verdictOf(bool holds, bool isProtected) {
  if (!holds) return RaceVerdict::kBroken;
  return isProtected ? RaceVerdict::kHeld : RaceVerdict::kLucky;
}

}  // namespace festa
