#include "controllers/announcements/announcement_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"

namespace festa {

using drogon::HttpResponsePtr;

const lock::Lockable kAnnouncementPins{
    .name = "announcement-pins",
    .key = "announcement:{token.festivalId}",
};

namespace {

constexpr std::size_t kMaxTitle = 50;
constexpr std::size_t kMaxContent = 3000;
constexpr std::size_t kMaxPageBytes = 1024UL * 1024;

std::int64_t pathId(const Asked& asked) {
  return asked.pathId("id");
}

AnnouncementPageQuery parsePage(const Asked& asked) {
  AnnouncementPageQuery query{festivalIdIn(asked), std::nullopt};
  const auto& parameters = asked.request().parameters();
  const auto after = parameters.find("after");
  if (after != parameters.end()) query.after = parseId(after->second, inQuery("after"));
  return query;
}

// Reads the id of the announcement that a pin replaces.
std::optional<std::int64_t> readInsteadOf(FieldReader& fields, bool pinned) {
  const auto insteadOf = fields.idIfAny("insteadOf");
  if (insteadOf && !pinned)
    fields.reject("insteadOf", "고정할 때만 쓸 수 있습니다.", "needs a pin");
  return insteadOf;
}

NewAnnouncement parseNew(const Asked& asked) {
  FieldReader fields(asked.body());
  NewAnnouncement input{fields.text("title", kMaxTitle), fields.text("content", kMaxContent),
                        fields.flagOrFalse("isPinned")};
  input.insteadOf = readInsteadOf(fields, input.isPinned);
  fields.done();
  return input;
}

AnnouncementTextChange parseText(const Asked& asked) {
  const auto id = pathId(asked);
  FieldReader fields(asked.body());
  AnnouncementTextChange input{
      id, {fields.text("title", kMaxTitle), fields.text("content", kMaxContent)}};
  fields.done();
  return input;
}

AnnouncementPinChange parsePin(const Asked& asked) {
  const auto id = pathId(asked);
  FieldReader fields(asked.body());
  AnnouncementPinChange input{id, {fields.flagOrFalse("pinned")}};
  input.change.insteadOf = readInsteadOf(fields, input.change.pinned);
  if (input.change.insteadOf == id)
    fields.reject("insteadOf", "다른 공지여야 합니다.", "must be another announcement");
  fields.done();
  return input;
}

std::int64_t parsePathId(const Asked& asked) {
  return pathId(asked);
}

void write(JsonWriter& json, const Announcement& a) {
  json.beginObject()
      .member("announcementId", a.id)
      .member("title", a.title)
      .member("content", a.content)
      .member("isPinned", a.isPinned)
      .member("createdAt", a.createdAt)
      .endObject();
}

// As many as the page has room for, but at least one, so that every page leads on. How many.
std::size_t writeFitting(JsonWriter& page, const std::vector<Announcement>& announcements) {
  constexpr std::size_t kAround = 3;  // a comma before it, and the two brackets at the end
  std::size_t count = 0;
  for (const auto& announcement : announcements) {
    JsonWriter json;
    write(json, announcement);
    if (count > 0 && page.size() + json.size() + kAround > kMaxPageBytes) break;
    page.json(json.take());
    ++count;
  }
  return count;
}

RenderedListCache::Key keyOf(const AnnouncementPageQuery& query) {
  return {{ListKind::kAnnouncements, query.festivalId},
          query.after ? std::to_string(*query.after) : ""};
}

}  // namespace

void AnnouncementController::publish(RoutePublisher& routes) const {
  using Self = AnnouncementController;
  routes
      .addLocked(*this,
                 {.method = drogon::Post,
                  .path = "/announcements",
                  .access = kCouncils,
                  .takesBody = true},
                 kAnnouncementPins, {}, parseNew, &Self::create)
      .afterCommit(&Self::forgetLists<NewAnnouncement>);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/announcements",
              .access = kAnyone,
              .paged = Paged::kByAfter},
             parsePage, &Self::list);
  routes
      .add(*this,
           {.method = drogon::Patch,
            .path = "/announcements/{id}",
            .access = kCouncils,
            .takesBody = true},
           parseText, &Self::edit)
      .afterCommit(&Self::forgetLists<AnnouncementTextChange>);
  routes
      .addLocked(*this,
                 {.method = drogon::Patch,
                  .path = "/announcements/{id}/pin",
                  .access = kCouncils,
                  .takesBody = true},
                 kAnnouncementPins, {}, parsePin, &Self::setPinned)
      .afterCommit(&Self::forgetLists<AnnouncementPinChange>);
  routes
      .addLocked(*this,
                 {.method = drogon::Delete, .path = "/announcements/{id}", .access = kCouncils},
                 kAnnouncementPins, {}, parsePathId, &Self::remove)
      .afterCommit(&Self::forgetLists<std::int64_t>);
}

drogon::Task<HttpResponsePtr> AnnouncementController::create(const Call<NewAnnouncement>& call,
                                                             WriteGuard& guard) const {
  const auto answer = [](const Announcement& created) {
    JsonWriter json;
    write(json, created);
    return Answer{drogon::k201Created, json.take()};
  };
  const auto receipt = receiptFor<Announcement>(call.context, answer);
  const auto created =
      co_await service_.create(festivalOf(call.caller()), call.input, guard, receipt.wanted());
  co_return toResponse(answer(created));
}

drogon::Task<RenderedListPtr> AnnouncementController::renderPage(
    std::int64_t festivalId, std::optional<std::int64_t> after) const {
  const auto page = co_await service_.list(festivalId, after, kMaxPageBytes);
  JsonWriter json;
  json.beginObject().key("pinned").beginArray();
  for (const auto& announcement : page.pinned) write(json, announcement);
  json.endArray().key("unpinned").beginArray();
  const auto shown = writeFitting(json, page.unpinned);
  json.endArray().endObject();
  std::string next;
  if (shown < page.unpinned.size())
    next = "/announcements?after=" + std::to_string(page.unpinned[shown - 1].id);
  co_return renderedList(json.take(), std::move(next));
}

drogon::Task<HttpResponsePtr> AnnouncementController::list(
    const Call<AnnouncementPageQuery>& call) const {
  const auto& query = call.input;
  const auto key = keyOf(query);
  const auto render = [this, &query] { return renderPage(query.festivalId, query.after); };
  const auto page = co_await lists_.get(key, render);
  auto response = listResponse(call.request, *page);
  response->addHeader("Vary", "festival");
  co_return response;
}

drogon::Task<HttpResponsePtr> AnnouncementController::edit(
    const Call<AnnouncementTextChange>& call) const {
  const auto& change = call.input;
  const auto answer = [text = change.text](std::int64_t id) {
    JsonWriter json;
    json.beginObject()
        .member("announcementId", id)
        .member("title", text.title)
        .member("content", text.content);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  const auto id =
      co_await service_.edit(festivalOf(call.caller()), change.id, change.text, receipt.wanted());
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> AnnouncementController::setPinned(
    const Call<AnnouncementPinChange>& call, WriteGuard& guard) const {
  const auto& change = call.input;
  const auto answer = [id = change.id](bool pinned) {
    JsonWriter json;
    json.beginObject().member("announcementId", id).member("isPinned", pinned);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptFor<bool>(call.context, answer);
  const bool pinned = co_await service_.setPinned(festivalOf(call.caller()), change.id,
                                                  change.change, guard, receipt.wanted());
  co_return toResponse(answer(pinned));
}

drogon::Task<HttpResponsePtr> AnnouncementController::remove(const Call<std::int64_t>& call,
                                                             WriteGuard& guard) const {
  const auto answer = [](std::int64_t) { return Answer{drogon::k204NoContent}; };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  const auto id =
      co_await service_.remove(festivalOf(call.caller()), call.input, guard, receipt.wanted());
  co_return toResponse(answer(id));
}

}  // namespace festa
