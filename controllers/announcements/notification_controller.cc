#include "controllers/announcements/notification_controller.h"

namespace festa {

using drogon::HttpResponsePtr;

namespace {

std::int64_t parseAnnouncement(const Asked& asked) {
  return asked.pathId("id");
}

}  // namespace

void NotificationController::publish(RoutePublisher& routes) const {
  using Self = NotificationController;
  routes.add(
      *this,
      {.method = drogon::Post, .path = "/announcements/{id}/notifications", .access = kCouncils},
      parseAnnouncement, &Self::notify);
  routes.add(*this, {.method = drogon::Get, .path = "/announcements/events", .access = kAnyone},
             parseListener, &Self::listen);
}

drogon::Task<HttpResponsePtr> NotificationController::notify(const Call<std::int64_t>& call) const {
  const auto answer = [](std::int64_t) { return Answer{drogon::k200OK}; };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  const auto id = co_await service_.notify(festivalOf(call.caller()), call.input, receipt.wanted());
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> NotificationController::listen(
    const Call<ListenerQuery>& call) const {
  if (feed_.isClosed()) throw ServiceError(ErrorCode::kShuttingDown);
  const auto query = call.input;
  co_await service_.requireFestival(query.festivalId);
  auto place = places_.take(*call.request);
  co_return eventStream(
      call.request, std::move(place), kStillHere,
      [this, query](std::unique_ptr<EventSink> sink) { feed_.add(query, std::move(sink)); });
}

}  // namespace festa
