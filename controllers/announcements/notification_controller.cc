#include "controllers/announcements/notification_controller.h"

#include "controllers/json/json_writer.h"
#include "controllers/live/event_stream.h"

namespace festa {

using drogon::HttpResponsePtr;

namespace {

std::int64_t parseAnnouncement(const Asked& asked) {
  return asked.pathId("id");
}

}  // namespace

// Browsers send no headers of ours with an EventSource, but bring back the id of the last event.
// Room for the snapshot of a database with hundreds of transactions at once.
constexpr std::size_t kMaxEventId = 8192;

ListenerQuery parseListener(const Asked& asked) {
  const auto& named = asked.request().getParameter("festival");
  ListenerQuery query{named.empty() ? festivalIdIn(asked) : parseId(named, inQuery("festival")),
                      {}};
  const auto& last = asked.request().getHeader("last-event-id");
  if (last.empty()) return query;
  if (last.size() <= kMaxEventId) query.resumeFrom = Snapshot::parse(last);
  if (!query.resumeFrom)
    throw invalidParameter(inHeader("Last-Event-ID"), "이 서비스가 보낸 이벤트의 id여야 합니다.",
                           "must be the id of an event that this service has sent");
  return query;
}

std::string NotificationJson::data(const Notification& notification) const {
  JsonWriter json;
  json.beginObject()
      .member("notificationId", notification.id)
      .member("announcementId", notification.announcementId)
      .member("title", notification.title)
      .member("content", notification.content)
      .member("notifiedAt", notification.notifiedAt);
  return json.endObject().take();
}

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
  co_return eventStream(call.request, std::move(place), kStillHere,
                        [this, query](std::unique_ptr<EventSink> sink) {
                          feed_.add(query.festivalId, query.resumeFrom, std::move(sink));
                        });
}

}  // namespace festa
