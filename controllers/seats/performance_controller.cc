#include "controllers/seats/performance_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/local_time.h"
#include "controllers/json/paging.h"
#include "controllers/json/responses.h"
#include "controllers/seats/performance_json.h"
#include "services/seats/seat.h"

#include <algorithm>
#include <limits>
#include <set>

namespace festa {

using drogon::HttpResponsePtr;

namespace {

constexpr std::size_t kMaxTitle = 100;
constexpr std::size_t kMaxContent = 3000;
constexpr std::size_t kMaxActing = 200;
constexpr std::size_t kMaxSections = 1000;
constexpr std::int64_t kMaxSeats = 50'000;  // of a section
const std::vector<std::string> kCategories{"MUSICAL", "CONCERT", "PLAY", "CLASSIC", "SPORT"};
const std::vector<std::string> kFilmRatings{"ALL", "SEVEN", "TWELVE", "FIFTEEN", "NINETEEN"};

PerformanceData readData(FieldReader& fields) {
  PerformanceData data;
  data.category = fields.choice("category", kCategories);
  data.startAt = fields.dateTime("startAt");
  data.endAt = fields.dateTime("endAt");
  data.startReservationAt = fields.dateTime("startReservationAt");
  data.endReservationAt = fields.dateTime("endReservationAt");
  data.title = fields.text("title", kMaxTitle);
  data.content = fields.text("content", kMaxContent);
  data.acting = fields.text("acting", kMaxActing);
  data.filmRating = fields.choice("filmRating", kFilmRatings);
  data.price = fields.number("price", 0, std::numeric_limits<std::int64_t>::max());
  return data;
}

void requireOrder(FieldReader& fields, const char* start, const std::string& startAt,
                  const char* end, const std::string& endAt) {
  // PerformanceService looks at those whose order depends on the time zone.
  if (fields.isRight(start) && fields.isRight(end) && isBefore(endAt, startAt).value_or(false))
    fields.reject(end, "시작 시각보다 빠를 수 없습니다.",
                  std::string("must not be before ") + start);
}

std::vector<SeatSection> readSections(FieldReader& fields) {
  std::vector<SeatSection> sections;
  std::set<std::string> locations;
  fields.each("seats", kMaxSections, [&](FieldReader& item) {
    sections.push_back(
        {item.text("location", kMaxSeatLocation), item.number("seatCount", 1, kMaxSeats)});
    if (item.isRight("location") && !locations.insert(sections.back().location).second)
      item.reject("location", "같은 구역이 두 번 있습니다.", "must not be there twice");
  });
  return sections;
}

NewPerformance parseNew(const Asked& asked) {
  FieldReader fields(asked.body());
  NewPerformance input;
  input.placeId = fields.id("placeId");
  input.data = readData(fields);
  requireOrder(fields, "startAt", input.data.startAt, "endAt", input.data.endAt);
  requireOrder(fields, "startReservationAt", input.data.startReservationAt, "endReservationAt",
               input.data.endReservationAt);
  input.sections = readSections(fields);
  fields.done();
  return input;
}

std::int64_t pathId(const Asked& asked) {
  return asked.pathId("id");
}

std::int64_t parsePathId(const Asked& asked) {
  return pathId(asked);
}

PageRequest parsePage(const Asked& asked) {
  return parsePaging(asked.request());
}

SeatQuery parseSeatQuery(const Asked& asked) {
  const auto id = pathId(asked);
  return {id, parseText(asked.request().getParameter("location"), inQuery("location"),
                        kMaxSeatLocation)};
}

constexpr ListOwner kAllPerformances{ListKind::kPerformances, 0};

// Different pages have different names.
std::string nameOf(const PageRequest& page) {
  return std::to_string(page.page) + '/' + std::to_string(page.perPage) + '/' +
         std::to_string(page.after);
}

std::string contentOf(const Performance& performance) {
  JsonWriter json;
  write(json, performance);
  return contentEnvelope(json.take());
}

std::string itemsOf(const std::vector<ListedSeat>& seats) {
  JsonWriter json;
  json.beginArray();
  for (const auto& seat : seats)
    json.beginObject()
        .member("id", seat.id)
        .member("location", seat.location)
        .member("number", seat.number)
        .member("isReserved", seat.isReserved)
        .endObject();
  return json.endArray().take();
}

}  // namespace

void PerformanceController::publish(RoutePublisher& routes) const {
  using Self = PerformanceController;
  routes
      .add(*this,
           {.method = drogon::Post,
            .path = "/performance",
            .access = kAdmins,
            .takesBody = true,
            .maxBodyMembers = 5000,  // a thousand sections
            .isEnveloped = true},
           parseNew, &Self::create)
      .afterCommit(&Self::forgetList);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/performances",
              .access = kAnyone,
              .isEnveloped = true,
              .paged = Paged::kByPage},
             parsePage, &Self::list);
  routes.add(
      *this,
      {.method = drogon::Get, .path = "/performances/{id}", .access = kAnyone, .isEnveloped = true},
      parsePathId, &Self::show);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/performances/{id}/seats",
              .access = kAnyone,
              .isEnveloped = true,
              .paged = Paged::kWhole},
             parseSeatQuery, &Self::seats);
}

drogon::Task<HttpResponsePtr> PerformanceController::create(
    const Call<NewPerformance>& call) const {
  const auto answer = [](const Performance& created) {
    return Answer{drogon::k200OK, contentOf(created)};
  };
  const auto receipt = receiptFor<Performance>(call.context, answer);
  const auto created = co_await service_.create(call.input, receipt.wanted());
  co_return toResponse(answer(created));
}

void PerformanceController::forgetList(const Call<NewPerformance>&) const {
  lists_.invalidate(kAllPerformances);
}

drogon::Task<RenderedListPtr> PerformanceController::renderPage(PageRequest asked) const {
  const auto page = co_await service_.list(asked);
  JsonWriter json;
  json.beginArray();
  for (const auto& performance : page.items) write(json, performance);
  co_return renderedList(listEnvelope(json.endArray().take(), pagingOf(asked, page.totalCount)));
}

drogon::Task<HttpResponsePtr> PerformanceController::list(const Call<PageRequest>& call) const {
  const auto& asked = call.input;
  const RenderedListCache::Key key{kAllPerformances, nameOf(asked)};
  const auto render = [this, asked] { return renderPage(asked); };
  const auto page = co_await lists_.get(key, render);
  co_return listResponse(call.request, *page);
}

drogon::Task<RenderedListPtr> PerformanceController::renderOne(std::int64_t id) const {
  const auto performance = co_await service_.find(id);
  co_return renderedList(contentOf(performance));
}

drogon::Task<HttpResponsePtr> PerformanceController::show(const Call<std::int64_t>& call) const {
  const auto id = call.input;
  const RenderedListCache::Key key{{ListKind::kPerformance, id}, ""};
  const auto render = [this, id] { return renderOne(id); };
  const auto one = co_await lists_.get(key, render);
  co_return listResponse(call.request, *one);
}

drogon::Task<RenderedListPtr> PerformanceController::renderSeats(std::int64_t id,
                                                                 std::string location) const {
  const auto seats = co_await service_.seats(id, location);
  const auto count = static_cast<std::int64_t>(seats.size());
  const Paging onePage{count, 0, std::max<std::int64_t>(count, 1)};
  co_return renderedList(listEnvelope(itemsOf(seats), onePage));
}

drogon::Task<HttpResponsePtr> PerformanceController::seats(const Call<SeatQuery>& call) const {
  const auto& [id, location] = call.input;
  const RenderedListCache::Key key{{ListKind::kSeats, id}, location};
  const auto render = [this, key] { return renderSeats(key.owner.id, key.part); };
  const auto list = co_await lists_.get(key, render);
  co_return listResponse(call.request, *list);
}

}  // namespace festa
