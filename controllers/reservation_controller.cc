#include "controllers/reservation_controller.h"

#include "controllers/envelope.h"
#include "controllers/json_body.h"
#include "controllers/json_writer.h"
#include "controllers/paging.h"
#include "controllers/responses.h"

#include <limits>

namespace festa {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

const lock::Lockable kSeats{
    .name = "seats",
    .key = "seat:{path.id}:{body.seatLocation}:{body.seatNumber}",
    .failFast = true,
    .busyCode = "SEAT_BUSY",
};

namespace {

constexpr std::size_t kMaxLocation = 20;

struct Wish {
  SeatRef seat;
  std::int64_t userId;
};

struct ListWish {
  std::int64_t performanceId;
  PageRequest page;
};

struct OneWish {
  std::int64_t performanceId;
  std::int64_t reservationId;
};

std::int64_t performanceIn(const RequestContext& context) {
  return parseId(context.route.parameters.at("id"), "performance id");
}

std::int64_t reservationIn(const RequestContext& context) {
  return parseId(context.route.parameters.at("rid"), "reservation id");
}

std::any parseWish(const HttpRequestPtr&, const RequestContext& context) {
  const auto performanceId = performanceIn(context);
  FieldReader fields(context.body);
  const auto userId = fields.id("userId");
  const auto location = fields.text("seatLocation", kMaxLocation);
  const auto number = fields.number("seatNumber", 1, std::numeric_limits<std::int32_t>::max());
  fields.done();
  if (!context.caller->hasRole("ROLE_ADMIN") && context.caller->uid != userId)
    throw ServiceError(ErrorCode::kForbidden, "a reservation for another user");
  return Wish{{performanceId, location, static_cast<std::int32_t>(number)}, userId};
}

std::any parseList(const HttpRequestPtr& request, const RequestContext& context) {
  return ListWish{performanceIn(context), parsePaging(*request)};
}

std::any parseOne(const HttpRequestPtr&, const RequestContext& context) {
  return OneWish{performanceIn(context), reservationIn(context)};
}

std::any parseReservation(const HttpRequestPtr&, const RequestContext& context) {
  return reservationIn(context);
}

void writeUser(JsonWriter& json, const Reservation& reservation) {
  json.key("user")
      .beginObject()
      .member("id", reservation.user.id)
      .member("userId", reservation.user.login)
      .member("name", reservation.user.name)
      .endObject();
}

void writeSeat(JsonWriter& json, const Reservation& reservation) {
  json.key("seat")
      .beginObject()
      .member("id", reservation.seatId)
      .member("performanceId", reservation.seat.performanceId)
      .member("location", reservation.seat.location)
      .member("number", static_cast<std::int64_t>(reservation.seat.number))
      .member("isReserved", true)
      .endObject();
}

void write(JsonWriter& json, const Reservation& reservation) {
  json.beginObject().member("id", reservation.id);
  writeUser(json, reservation);
  writeSeat(json, reservation);
  json.member("reservedAt", reservation.reservedAt).endObject();
}

std::string render(const Reservation& reservation, const std::string& performance) {
  JsonWriter json;
  json.beginObject().member("id", reservation.id);
  writeUser(json, reservation);
  json.key("performance").json(performance);
  writeSeat(json, reservation);
  json.member("reservedAt", reservation.reservedAt).endObject();
  return contentEnvelope(json.take());
}

}  // namespace

void ReservationController::publish(Endpoints& endpoints) const {
  endpoints.add({.method = drogon::Post,
                 .path = "/customer/performances/{id}/reservations",
                 .access = kUsersAndAdmins,
                 .takesBody = true,
                 .parse = parseWish,
                 .before = [this](const HttpRequestPtr& request) { return knownToBeSold(request); },
                 .lock = &kSeats,
                 .lockBodyFields = {"seatLocation", "seatNumber"},
                 .handle = [this](HttpRequestPtr request) { return reserve(std::move(request)); }});
  endpoints.add({.method = drogon::Delete,
                 .path = "/customer/reservations/{rid}",
                 .access = kUsersAndAdmins,
                 .parse = parseReservation,
                 .handle = [this](HttpRequestPtr request) { return cancel(std::move(request)); }});
  endpoints.add({.method = drogon::Get,
                 .path = "/business/performances/{id}/reservations",
                 .access = kAdmins,
                 .parse = parseList,
                 .handle = [this](HttpRequestPtr request) { return list(std::move(request)); }});
  endpoints.add({.method = drogon::Get,
                 .path = "/business/performances/{id}/reservations/{rid}",
                 .access = kAdmins,
                 .parse = parseOne,
                 .handle = [this](HttpRequestPtr request) { return show(std::move(request)); }});
}

std::optional<ErrorCode> ReservationController::knownToBeSold(const HttpRequestPtr& request) const {
  const bool sold = usesSoldView_(request) && services_.sold->isSold(inputOf<Wish>(request).seat);
  return sold ? std::optional(ErrorCode::kAlreadyReservedSeat) : std::nullopt;
}

drogon::Task<HttpResponsePtr> ReservationController::reserve(HttpRequestPtr request) const {
  const Wish wish = inputOf<Wish>(request);
  const auto guard = guardOf_(request);
  // Before the sale: nothing may keep a committed one from being told.
  const auto performance = co_await services_.performances->of(wish.seat.performanceId);
  const auto answer = [performance](const Reservation& reservation) {
    return Answer{drogon::k200OK, render(reservation, *performance)};
  };
  const auto receipt = receiptOf<Reservation>(request, answer);
  const auto reservation =
      co_await services_.reservations->reserve(wish.seat, wish.userId, guard, receipt);
  co_return toResponse(answer(reservation));
}

drogon::Task<HttpResponsePtr> ReservationController::cancel(HttpRequestPtr request) const {
  const Caller& caller = *contextOf(request).caller;
  const Canceller who{caller.uid, caller.hasRole("ROLE_ADMIN")};
  const auto answer = [](const SeatRef&) { return Answer{drogon::k204NoContent}; };
  const auto receipt = receiptOf<SeatRef>(request, answer);
  const auto freed =
      co_await services_.reservations->cancel(inputOf<std::int64_t>(request), who, receipt);
  co_return toResponse(answer(freed));
}

drogon::Task<HttpResponsePtr> ReservationController::list(HttpRequestPtr request) const {
  const ListWish wish = inputOf<ListWish>(request);
  const auto page = co_await services_.reservations->list(wish.performanceId, wish.page);
  JsonWriter json;
  json.beginArray();
  for (const auto& reservation : page.items) write(json, reservation);
  const auto items = json.endArray().take();
  co_return jsonResponse(drogon::k200OK, listEnvelope(items, pagingOf(wish.page, page.totalCount)));
}

drogon::Task<HttpResponsePtr> ReservationController::show(HttpRequestPtr request) const {
  const OneWish wish = inputOf<OneWish>(request);
  const auto reservation =
      co_await services_.reservations->find(wish.performanceId, wish.reservationId);
  JsonWriter json;
  write(json, reservation);
  co_return jsonResponse(drogon::k200OK, contentEnvelope(json.take()));
}

}  // namespace festa
