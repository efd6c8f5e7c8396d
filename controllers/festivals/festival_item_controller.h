// The routes of one kind of things of a festival.
#pragma once

#include "controllers/cache/rendered_list_cache.h"
#include "controllers/http/route_publisher.h"
#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "services/festivals/festival_items.h"

namespace festa {

template <class Item>
struct ItemChange {
  std::int64_t id;
  Item item;
};

// `{id}` of the path.
inline std::int64_t itemIdIn(const Asked& asked) {
  return asked.pathId("id");
}

// A list that depends on the header `festival`.
inline drogon::HttpResponsePtr festivalList(const drogon::HttpRequestPtr& request,
                                            const RenderedList& list) {
  auto response = listResponse(request, list);
  response->addHeader("Vary", "festival");
  return response;
}

// GET, POST <path>; PATCH, DELETE <path>/{id}. `View` says how a kind looks over HTTP:
//   Service                  FestivalItems of its kind, or a class derived from them
//   kPath, kList             where it is, which list it is
//   parse(fields)            an Item of a body
//   write(json, row)         an element of the list, and the answer to POST
//   writeChanged(json, row)  the answer to PATCH
//   kCreateLock, kChangeLock  only where creates, changes need a lock: the address of its Lockable.
//                            The service's function takes a WriteGuard then
template <class View>
class FestivalItemController {
 public:
  using Service = typename View::Service;
  using Item = typename Service::Item;
  using Row = typename Service::Row;
  using Self = FestivalItemController;

  FestivalItemController(const Service& service, RenderedListCache& lists)
      : service_(service), lists_(lists) {}

  void publish(RoutePublisher& routes) const {
    publishList(routes);
    publishCreate(routes);
    publishChange(routes);
    publishRemove(routes);
  }
  void publishList(RoutePublisher& routes) const {
    routes.add(
        *this,
        {.method = drogon::Get, .path = View::kPath, .access = kAnyone, .paged = Paged::kWhole},
        festivalIdIn, &Self::list);
  }
  void publishCreate(RoutePublisher& routes) const {
    const RouteSpec spec{
        .method = drogon::Post, .path = View::kPath, .access = kCouncils, .takesBody = true};
    constexpr auto forget = &Self::template forgetList<Item>;
    if constexpr (requires { View::kCreateLock; })
      routes.addLocked(*this, spec, *View::kCreateLock, {}, parseNew, &Self::createLocked)
          .afterCommit(forget);
    else
      routes.add(*this, spec, parseNew, &Self::create).afterCommit(forget);
  }
  void publishChange(RoutePublisher& routes) const {
    const RouteSpec spec{
        .method = drogon::Patch, .path = onePath(), .access = kCouncils, .takesBody = true};
    constexpr auto forget = &Self::template forgetList<ItemChange<Item>>;
    if constexpr (requires { View::kChangeLock; })
      routes.addLocked(*this, spec, *View::kChangeLock, {}, parseChange, &Self::changeLocked)
          .afterCommit(forget);
    else
      routes.add(*this, spec, parseChange, &Self::change).afterCommit(forget);
  }
  void publishRemove(RoutePublisher& routes) const {
    routes
        .add(*this, {.method = drogon::Delete, .path = onePath(), .access = kCouncils}, itemIdIn,
             &Self::remove)
        .afterCommit(&Self::template forgetList<std::int64_t>);
  }

  static RenderedListPtr rendered(const std::vector<Row>& rows) {
    JsonWriter json;
    json.beginArray();
    for (const auto& row : rows) View::write(json, row);
    return renderedList(json.endArray().take());
  }
  // A request that follows the answer must see the effect.
  template <class Input>
  void forgetList(const Call<Input>& call) const {
    lists_.invalidate({View::kList, festivalOf(call.caller())});
  }

 private:
  static std::string onePath() { return std::string(View::kPath) + "/{id}"; }

  static Item parseNew(const Asked& asked) {
    FieldReader fields(asked.body());
    Item item = View::parse(fields);
    fields.done();
    return item;
  }
  static ItemChange<Item> parseChange(const Asked& asked) {
    const auto id = itemIdIn(asked);
    return {id, parseNew(asked)};
  }
  static Answer created(const Row& row) {
    JsonWriter json;
    View::write(json, row);
    return {drogon::k201Created, json.take()};
  }
  static Answer changed(const Row& row) {
    JsonWriter json;
    View::writeChanged(json, row);
    return {drogon::k200OK, json.take()};
  }

  drogon::Task<RenderedListPtr> render(std::int64_t festivalId) const {
    const auto rows = co_await service_.list(festivalId);
    co_return rendered(rows);
  }

  drogon::Task<drogon::HttpResponsePtr> list(const Call<std::int64_t>& call) const {
    const RenderedListCache::Key key{{View::kList, call.input}, ""};
    const auto renderThis = [this, festivalId = call.input] { return render(festivalId); };
    const auto found = co_await lists_.get(key, renderThis);
    co_return festivalList(call.request, *found);
  }

  drogon::Task<drogon::HttpResponsePtr> create(const Call<Item>& call) const {
    const auto receipt = receiptFor<Row>(call.context, created);
    const auto row =
        co_await service_.create(festivalOf(call.caller()), call.input, receipt.wanted());
    co_return toResponse(created(row));
  }

  drogon::Task<drogon::HttpResponsePtr> createLocked(const Call<Item>& call,
                                                     WriteGuard& guard) const {
    const auto receipt = receiptFor<Row>(call.context, created);
    const auto row =
        co_await service_.create(festivalOf(call.caller()), call.input, guard, receipt.wanted());
    co_return toResponse(created(row));
  }

  drogon::Task<drogon::HttpResponsePtr> change(const Call<ItemChange<Item>>& call) const {
    const auto receipt = receiptFor<Row>(call.context, changed);
    const auto row = co_await service_.change(festivalOf(call.caller()), call.input.id,
                                              call.input.item, receipt.wanted());
    co_return toResponse(changed(row));
  }

  drogon::Task<drogon::HttpResponsePtr> changeLocked(const Call<ItemChange<Item>>& call,
                                                     WriteGuard& guard) const {
    const auto receipt = receiptFor<Row>(call.context, changed);
    const auto row = co_await service_.change(festivalOf(call.caller()), call.input.id,
                                              call.input.item, guard, receipt.wanted());
    co_return toResponse(changed(row));
  }

  drogon::Task<drogon::HttpResponsePtr> remove(const Call<std::int64_t>& call) const {
    const auto answer = [](std::int64_t) { return Answer{drogon::k204NoContent}; };
    const auto receipt = receiptFor<std::int64_t>(call.context, answer);
    const auto id =
        co_await service_.remove(festivalOf(call.caller()), call.input, receipt.wanted());
    co_return toResponse(answer(id));
  }

  const Service& service_;
  RenderedListCache& lists_;
};

}  // namespace festa
