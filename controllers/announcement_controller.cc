#include "controllers/announcement_controller.h"

#include "controllers/festival_header.h"
#include "controllers/json_body.h"
#include "controllers/json_writer.h"

namespace festa {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

const lock::Lockable kAnnouncementPins{
    .name = "announcement-pins",
    .key = "announcement:{token.festivalId}",
};

namespace {

constexpr std::size_t kMaxTitle = 50;
constexpr std::size_t kMaxContent = 3000;
constexpr std::size_t kMaxPageBytes = 1024UL * 1024;

struct PageQuery {
  std::int64_t festivalId;
  std::optional<std::int64_t> after;  // none: the first page
};

struct TextChange {
  std::int64_t id;
  AnnouncementText text;
};

struct PinChange {
  std::int64_t id;
  bool pinned;
};

std::int64_t pathId(const RequestContext& context) {
  return parseId(context.route.parameters.at("id"), "announcement id");
}

std::any parsePage(const HttpRequestPtr& request, const RequestContext&) {
  PageQuery query{festivalIdIn(*request), std::nullopt};
  const auto& parameters = request->parameters();
  const auto after = parameters.find("after");
  if (after != parameters.end()) query.after = parseId(after->second, "after");
  return query;
}

std::any parseNew(const HttpRequestPtr&, const RequestContext& context) {
  FieldReader fields(context.body);
  const NewAnnouncement input{fields.text("title", kMaxTitle), fields.text("content", kMaxContent),
                              fields.flagOrFalse("isPinned")};
  fields.done();
  return input;
}

std::any parseText(const HttpRequestPtr&, const RequestContext& context) {
  const auto id = pathId(context);
  FieldReader fields(context.body);
  const TextChange input{id,
                         {fields.text("title", kMaxTitle), fields.text("content", kMaxContent)}};
  fields.done();
  return input;
}

std::any parsePin(const HttpRequestPtr&, const RequestContext& context) {
  const auto id = pathId(context);
  FieldReader fields(context.body);
  const PinChange input{id, fields.flagOrFalse("pinned")};
  fields.done();
  return input;
}

std::any parsePathId(const HttpRequestPtr&, const RequestContext& context) {
  return pathId(context);
}

std::int64_t festivalOf(const HttpRequestPtr& request) {
  return *contextOf(request).caller->festivalId;
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

RenderedListCache::Key keyOf(const PageQuery& query) {
  return {{ListKind::kAnnouncements, query.festivalId},
          query.after ? std::to_string(*query.after) : ""};
}

}  // namespace

void AnnouncementController::publish(Endpoints& endpoints) const {
  const auto forget = [this](const HttpRequestPtr& request) { forgetLists(request); };
  endpoints.add({.method = drogon::Post,
                 .path = "/announcements",
                 .access = kCouncils,
                 .takesBody = true,
                 .parse = parseNew,
                 .lock = &kAnnouncementPins,
                 .handle = [this](HttpRequestPtr request) { return create(std::move(request)); },
                 .afterEffect = forget});
  endpoints.add({.method = drogon::Get,
                 .path = "/announcements",
                 .access = kAnyone,
                 .parse = parsePage,
                 .handle = [this](HttpRequestPtr request) { return list(std::move(request)); }});
  endpoints.add({.method = drogon::Patch,
                 .path = "/announcements/{id}",
                 .access = kCouncils,
                 .takesBody = true,
                 .parse = parseText,
                 .handle = [this](HttpRequestPtr request) { return edit(std::move(request)); },
                 .afterEffect = forget});
  endpoints.add({.method = drogon::Patch,
                 .path = "/announcements/{id}/pin",
                 .access = kCouncils,
                 .takesBody = true,
                 .parse = parsePin,
                 .lock = &kAnnouncementPins,
                 .handle = [this](HttpRequestPtr request) { return setPinned(std::move(request)); },
                 .afterEffect = forget});
  endpoints.add({.method = drogon::Delete,
                 .path = "/announcements/{id}",
                 .access = kCouncils,
                 .parse = parsePathId,
                 .lock = &kAnnouncementPins,
                 .handle = [this](HttpRequestPtr request) { return remove(std::move(request)); },
                 .afterEffect = forget});
}

drogon::Task<HttpResponsePtr> AnnouncementController::create(HttpRequestPtr request) const {
  const auto guard = guardOf_(request);
  const auto answer = [](const Announcement& created) {
    JsonWriter json;
    write(json, created);
    return Answer{drogon::k201Created, json.take()};
  };
  const auto receipt = receiptOf<Announcement>(request, answer);
  const auto created = co_await service_->create(festivalOf(request),
                                                 inputOf<NewAnnouncement>(request), guard, receipt);
  co_return toResponse(answer(created));
}

drogon::Task<RenderedListPtr> AnnouncementController::renderPage(
    std::int64_t festivalId, std::optional<std::int64_t> after) const {
  const auto page = co_await service_->list(festivalId, after, kMaxPageBytes);
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

drogon::Task<HttpResponsePtr> AnnouncementController::list(HttpRequestPtr request) const {
  const PageQuery query = inputOf<PageQuery>(request);
  const auto key = keyOf(query);
  const RenderedListCache::Render render = [this, query] {
    return renderPage(query.festivalId, query.after);
  };
  const auto page = co_await lists_.get(key, render);
  auto response = listResponse(request, *page);
  response->addHeader("Vary", "festival");
  co_return response;
}

void AnnouncementController::forgetLists(const HttpRequestPtr& request) const {
  lists_.invalidate({ListKind::kAnnouncements, festivalOf(request)});
}

drogon::Task<HttpResponsePtr> AnnouncementController::edit(HttpRequestPtr request) const {
  const TextChange change = inputOf<TextChange>(request);
  const auto answer = [text = change.text](std::int64_t id) {
    JsonWriter json;
    json.beginObject()
        .member("announcementId", id)
        .member("title", text.title)
        .member("content", text.content);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptOf<std::int64_t>(request, answer);
  const auto id = co_await service_->edit(festivalOf(request), change.id, change.text, receipt);
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> AnnouncementController::setPinned(HttpRequestPtr request) const {
  const PinChange change = inputOf<PinChange>(request);
  const auto guard = guardOf_(request);
  const auto answer = [id = change.id](bool pinned) {
    JsonWriter json;
    json.beginObject().member("announcementId", id).member("isPinned", pinned);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptOf<bool>(request, answer);
  const bool pinned =
      co_await service_->setPinned(festivalOf(request), change.id, change.pinned, guard, receipt);
  co_return toResponse(answer(pinned));
}

drogon::Task<HttpResponsePtr> AnnouncementController::remove(HttpRequestPtr request) const {
  const auto guard = guardOf_(request);
  const auto answer = [](std::int64_t) { return Answer{drogon::k204NoContent}; };
  const auto receipt = receiptOf<std::int64_t>(request, answer);
  const auto id = co_await service_->remove(festivalOf(request), inputOf<std::int64_t>(request),
                                            guard, receipt);
  co_return toResponse(answer(id));
}

}  // namespace festa
