#include "app/lab/race/race_record.h"

#include "controllers/json/json_writer.h"
#include "controllers/live/event_sink.h"

#include <algorithm>
#include <chrono>

namespace festa {

namespace {

constexpr const char* kLaneFields =
    R"(["person","sent","asked","received","granted","begun","committing","ended","released","answered",)"
    R"("status","code","instance","outcome","fence","place","won"])";

std::int64_t micros(std::int64_t nanos) {
  return nanos / 1000;
}

// A moment in microseconds after the start; null: it did not happen.
void writeMoment(JsonWriter& json, std::int64_t moment, std::int64_t start) {
  if (moment == 0)
    json.null();
  else
    json.value(micros(moment - start));
}

void writeLane(JsonWriter& json, const RaceLane& lane, std::int64_t start) {
  json.beginArray().value(lane.person);
  for (const auto moment :
       {lane.sent, lane.server.asked, lane.server.received, lane.server.granted, lane.server.begun,
        lane.server.committing, lane.server.ended, lane.server.released, lane.answered})
    writeMoment(json, moment, start);
  json.value(std::int64_t{lane.status})
      .value(lane.code)
      .value(lane.server.instance)
      .value(lane.server.outcome)
      .value(lane.server.fence)
      .value(lane.place)
      .value(lane.won)
      .endArray();
}

void writePercentiles(JsonWriter& json, const char* name, const Percentiles& values) {
  json.key(name)
      .beginObject()
      .member("count", values.count)
      .member("p50", micros(values.p50))
      .member("p90", micros(values.p90))
      .member("p99", micros(values.p99))
      .member("max", micros(values.most))
      .endObject();
}

void writeFindings(JsonWriter& json, const RaceFindings& findings, std::int64_t start) {
  json.key("micros").beginObject();
  writePercentiles(json, "accepted", findings.accepted);
  writePercentiles(json, "refused", findings.refused);
  writePercentiles(json, "wait", findings.wait);
  writePercentiles(json, "hold", findings.hold);
  json.endObject()
      .key("order")
      .beginObject()
      .member("granted", findings.order.granted)
      .member("overtaken", findings.order.overtaken)
      .endObject()
      .key("overlaps")
      .beginArray();
  for (const auto& overlap : findings.overlaps)
    json.beginObject()
        .member("first", static_cast<std::int64_t>(overlap.first))
        .member("second", static_cast<std::int64_t>(overlap.second))
        .member("from", micros(overlap.from - start))
        .member("to", micros(overlap.to - start))
        .endObject();
  json.endArray().key("answers").beginArray();
  for (const auto& [answer, count] : findings.answers)
    json.beginObject()
        .member("status", std::int64_t{answer.first})
        .member("code", answer.second)
        .member("count", count)
        .endObject();
  json.endArray().key("instances").beginArray();
  for (const auto& [instance, count] : findings.instances)
    json.beginObject().member("name", instance).member("count", count).endObject();
  json.endArray();
}

void writeResult(JsonWriter& json, const RaceResult& result, std::int64_t start) {
  json.member("holds", result.holds())
      .member("verdict", nameOf(verdictOf(result.holds(), result.isProtected)))
      .key("facts")
      .beginArray();
  for (const auto& fact : result.facts)
    json.beginObject()
        .member("name", fact.name)
        .member("expected", fact.expected)
        .member("found", fact.found)
        .member("holds", fact.holds)
        .endObject();
  json.endArray();
  writeFindings(json, result.findings, start);
  json.member("redisCommands", result.redisCommands);
}

void writeWish(JsonWriter& json, const RaceWish& wish) {
  json.member("what", nameOf(wish.subject))
      .member("people", wish.people)
      .member("backstop", wish.backstop)
      .member("fault", wish.releasesBeforeCommit ? "release-before-commit" : "none")
      .member("seed", static_cast<std::int64_t>(wish.seed))
      .key("strategies")
      .beginArray();
  for (const auto& strategy : wish.strategies) json.value(strategy);
  json.endArray();
}

void writePlan(JsonWriter& json, const RacePlan& plan) {
  json.member("prizes", plan.prizes).member("mostPerPrize", plan.mostPerPrize);
}

}  // namespace

bool RaceResult::holds() const {
  return std::all_of(facts.begin(), facts.end(), [](const RaceFact& fact) { return fact.holds; });
}

RaceRecord::RaceRecord(std::int64_t id, RaceWish wish, RacePlan plan)
    : id_(id),
      wish_(std::move(wish)),
      plan_(std::move(plan)),
      startedAt_(std::chrono::duration_cast<std::chrono::seconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count()) {
  JsonWriter json;
  json.beginObject().member("raceId", id_);
  writeWish(json, wish_);
  writePlan(json, plan_);
  json.key("laneFields").json(kLaneFields).endObject();
  add("race", json.take());
}

void RaceRecord::add(const char* event, const std::string& data) {
  events_.push_back(eventText({.event = event, .data = data}));
}

void RaceRecord::begin(std::int64_t start) {
  const std::lock_guard guard(mutex_);
  sides_.push_back(
      {wish_.strategies.at(sides_.size()), start, RaceScore(plan_.mostPerPrize, plan_.prizes)});
  told_ = 0;
  JsonWriter json;
  json.beginObject().member("strategy", sides_.back().strategy).endObject();
  add("side", json.take());
}

void RaceRecord::sent(std::int64_t person, std::int64_t at) {
  const std::lock_guard guard(mutex_);
  newlySent_.emplace_back(person, at);
}

void RaceRecord::answered(RaceLane lane) {
  const std::lock_guard guard(mutex_);
  auto& side = sides_.back();
  side.score.add(lane);
  side.lanes.push_back(std::move(lane));
}

std::vector<RaceLane> RaceRecord::lanes() const {
  const std::lock_guard guard(mutex_);
  return sides_.back().lanes;
}

std::int64_t RaceRecord::accepted() const {
  const std::lock_guard guard(mutex_);
  return sides_.back().score.accepted();
}

void RaceRecord::judged(RaceResult result) {
  const std::lock_guard guard(mutex_);
  flushLanes();
  auto& side = sides_.back();
  JsonWriter json;
  json.beginObject();
  writeResult(json, result, side.start);
  json.endObject();
  side.result = std::move(result);
  add("verdict", json.take());
}

void RaceRecord::finish(std::string failure) {
  const std::lock_guard guard(mutex_);
  state_ = failure.empty() ? State::kDone : State::kFailed;
  failure_ = std::move(failure);
  JsonWriter json;
  json.beginObject()
      .member("state", state_ == State::kDone ? "done" : "failed")
      .member("failure", failure_)
      .endObject();
  add("end", json.take());
}

bool RaceRecord::isOver() const {
  const std::lock_guard guard(mutex_);
  return state_ != State::kRunning;
}

void RaceRecord::flush() {
  const std::lock_guard guard(mutex_);
  flushLanes();
}

void RaceRecord::flushLanes() {
  if (sides_.empty()) return;
  auto& side = sides_.back();
  if (newlySent_.empty() && told_ == side.lanes.size()) return;
  JsonWriter json;
  json.beginObject().key("sent").beginArray();
  for (const auto& [person, at] : newlySent_)
    json.beginArray().value(person).value(micros(at - side.start)).endArray();
  json.endArray().key("lanes").beginArray();
  for (; told_ < side.lanes.size(); ++told_) writeLane(json, side.lanes[told_], side.start);
  json.endArray()
      .member("accepted", side.score.accepted())
      .member("tooMany", side.score.tooMany())
      .endObject();
  newlySent_.clear();
  add("lanes", json.take());
}

RaceRecord::Events RaceRecord::eventsSince(std::size_t from) const {
  const std::lock_guard guard(mutex_);
  if (from >= events_.size()) return {};
  return {events_.begin() + static_cast<std::ptrdiff_t>(from), events_.end()};
}

std::string RaceRecord::json() const {
  const std::lock_guard guard(mutex_);
  JsonWriter json;
  json.beginObject()
      .member("raceId", id_)
      .member("state", state_ == State::kRunning ? "running"
                       : state_ == State::kDone  ? "done"
                                                 : "failed")
      .member("failure", failure_)
      .member("startedAt", startedAt_);
  writeWish(json, wish_);
  writePlan(json, plan_);
  json.key("laneFields").json(kLaneFields).key("sides").beginArray();
  for (const auto& side : sides_) {
    json.beginObject()
        .member("strategy", side.strategy)
        .member("accepted", side.score.accepted())
        .member("tooMany", side.score.tooMany());
    json.key("result");
    if (side.result) {
      json.beginObject();
      writeResult(json, *side.result, side.start);
      json.endObject();
    } else {
      json.null();
    }
    json.key("lanes").beginArray();
    for (const auto& lane : side.lanes) writeLane(json, lane, side.start);
    json.endArray().endObject();
  }
  return json.endArray().endObject().take();
}

std::string RaceRecord::summary() const {
  const std::lock_guard guard(mutex_);
  JsonWriter json;
  json.beginObject()
      .member("raceId", id_)
      .member("state", state_ == State::kRunning ? "running"
                       : state_ == State::kDone  ? "done"
                                                 : "failed")
      .member("startedAt", startedAt_);
  writeWish(json, wish_);
  return json.endObject().take();
}

}  // namespace festa
