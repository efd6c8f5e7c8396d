#include "app/lab/race/race_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/json/responses.h"

#include <algorithm>
#include <array>
#include <random>

namespace festa {

using drogon::HttpResponsePtr;

namespace {

RaceWish parseWish(const Asked& asked) {
  if (!isFromOwnPage(asked.request()))
    throw ServiceError(ErrorCode::kForbidden, "a race is started by our own page on this machine");
  FieldReader fields(asked.body());
  const auto subject = fields.choice("what", raceSubjectNames());
  RaceWish wish;
  wish.people = fields.number("people", 2, kMostRacePeople);
  wish.strategies.push_back(fields.text("strategy", 40));
  if (asked.body().isMember("against")) wish.strategies.push_back(fields.text("against", 40));
  wish.backstop = fields.flagOrFalse("backstop");
  wish.releasesBeforeCommit = asked.body().isMember("fault") &&
                              fields.choice("fault", {"none", "release-before-commit"}) != "none";
  const bool hasSeed = asked.body().isMember("seed");
  wish.seed = hasSeed ? static_cast<std::uint64_t>(fields.id("seed"))
                      : std::random_device{}() % 1'000'000 + 1;
  fields.done();
  wish.subject = raceSubjectOf(subject);
  return wish;
}

std::int64_t parseRaceId(const Asked& asked) {
  return asked.pathId("id");
}

bool isLoopbackName(std::string_view host) {
  static constexpr std::array kNames{"127.0.0.1", "localhost", "[::1]"};
  const auto colon = host.rfind(':');
  const bool hasPort = colon != std::string_view::npos &&
                       host.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  const auto name = hasPort ? host.substr(0, colon) : host;
  return std::any_of(kNames.begin(), kNames.end(), [name](auto each) { return name == each; });
}

}  // namespace

bool isFromOwnPage(const drogon::HttpRequest& request) {
  const auto& host = request.getHeader("host");
  const auto& origin = request.getHeader("origin");
  // A proxy on this machine says for whom it asks.
  const auto& forwarded = request.getHeader("x-forwarded-for");
  const bool isLocal = request.peerAddr().isLoopbackIp() &&
                       (forwarded.empty() || forwarded == "127.0.0.1" || forwarded == "::1");
  return isLocal && isLoopbackName(host) && origin == "http://" + host;
}

void RaceController::publish(RoutePublisher& routes) const {
  using Self = RaceController;
  routes.add(*this,
             {.method = drogon::Post, .path = "/lab/races", .access = kAdmins, .takesBody = true},
             parseWish, &Self::start);
  routes.add(
      *this,
      {.method = drogon::Get, .path = "/lab/races", .access = kAnyone, .paged = Paged::kWhole},
      parseNothing, &Self::list);
  routes.add(*this, {.method = drogon::Get, .path = "/lab/races/{id}", .access = kAnyone},
             parseRaceId, &Self::show);
  routes.add(*this, {.method = drogon::Get, .path = "/lab/races/{id}/events", .access = kAnyone},
             parseRaceId, &Self::events);
}

void RaceController::requireUsable(const RaceWish& wish) const {
  for (const auto& strategy : wish.strategies) {
    const auto* const row = findStrategy(strategy);
    if (row == nullptr || !row->appliesTo(lockableOf(wish.subject)) ||
        !strategies_.isAvailable(*row))
      throw invalidParameter({"body", &strategy == &wish.strategies[0] ? "strategy" : "against"},
                             "이 경주에 쓸 수 있는 전략이 아닙니다.",
                             "must be a strategy that this race can use: known, with its server"
                             " here, and no queue except for coupons");
  }
}

drogon::Task<HttpResponsePtr> RaceController::start(const Call<RaceWish>& call) const {
  requireUsable(call.input);
  const auto race = desk_.start(call.input);
  auto response = jsonResponse(drogon::k202Accepted, race->summary());
  response->addHeader("Location", "/lab/races/" + std::to_string(race->id()));
  co_return response;
}

drogon::Task<HttpResponsePtr> RaceController::list(const Call<NoInput>&) const {
  JsonWriter json;
  json.beginObject().key("races").beginArray();
  for (const auto& race : desk_.all()) json.json(race->summary());
  json.endArray().key("strategies").beginArray();
  for (const auto& row : strategyTable())
    json.beginObject()
        .member("name", row.name)
        .member("available", strategies_.isAvailable(row))
        .member("takesLock", row.takesLock())
        .member("queues", row.queues)
        .member("protects", !row.labOnly)
        .member("acrossProcesses", row.acrossProcesses)
        .endObject();
  json.endArray().member("mostPeople", kMostRacePeople).endObject();
  co_return jsonResponse(drogon::k200OK, json.take());
}

drogon::Task<HttpResponsePtr> RaceController::show(const Call<std::int64_t>& call) const {
  const auto race = desk_.find(call.input);
  auto response = jsonResponse(drogon::k200OK, race->json());
  response->addHeader("Cache-Control", "no-store");
  co_return response;
}

drogon::Task<HttpResponsePtr> RaceController::events(const Call<std::int64_t>& call) const {
  const auto race = desk_.find(call.input);
  std::string soFar;
  for (const auto& event : race->eventsSince(0)) soFar += event;
  auto begin = [&desk = desk_, race](std::unique_ptr<EventSink> out) {
    desk.watch(race, std::move(out));
  };
  co_return eventStream(call.request, watchers_->take(*call.request), soFar, std::move(begin));
}

}  // namespace festa
