#include "controllers/seats/seat_events_controller.h"

namespace festa {

using drogon::HttpResponsePtr;

namespace {

// A browser opens few streams at a time, so a hall's page hears notifications on this one.
WatchQuery parseWatch(const Asked& asked) {
  WatchQuery query{asked.pathId("id"), {}};
  if (!asked.request().getParameter("festival").empty()) query.listener = parseListener(asked);
  return query;
}

}  // namespace

void SeatEventsController::publish(RoutePublisher& routes) const {
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/performances/{id}/seats/events",
              .access = kAnyone,
              .isEnveloped = true},
             parseWatch, &SeatEventsController::watch);
}

drogon::Task<RenderedListPtr> SeatEventsController::renderOnce(std::int64_t id) const {
  const auto picture = co_await parts_.performances.soldSeats(id);
  co_return renderedList(snapshotEvent(picture));
}

void SeatEventsController::begin(const WatchQuery& query, std::unique_ptr<EventSink> sink) const {
  if (query.listener) {
    SharedSink shared(std::move(sink));
    parts_.notificationFeed.add(*query.listener, std::move(shared.second));
    sink = std::move(shared.first);
  }
  parts_.feed.add(query.performanceId, std::move(sink));
}

drogon::Task<HttpResponsePtr> SeatEventsController::watch(const Call<WatchQuery>& call) const {
  const auto query = call.input;
  const auto id = query.performanceId;
  if (parts_.feed.isClosed()) throw ServiceError(ErrorCode::kShuttingDown);
  auto place = parts_.places.take(*call.request);
  co_await parts_.performanceJson.of(id);  // throws when there is no such performance
  if (query.listener) co_await parts_.notifications.requireFestival(query.listener->festivalId);
  std::string once;
  if (!mayStream(call.request)) {
    const RenderedListCache::Key key{{ListKind::kSeatPicture, id}, ""};
    const auto render = [this, id] { return renderOnce(id); };
    const auto rendered = co_await parts_.lists.get(key, render);
    once = rendered->body;
  }
  const auto begins = [this, query](std::unique_ptr<EventSink> sink) {
    begin(query, std::move(sink));
  };
  co_return eventStream(call.request, std::move(place), once, begins);
}

}  // namespace festa
