#include "controllers/seats/reservation_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/json/paging.h"
#include "controllers/json/responses.h"

#include <algorithm>
#include <limits>

namespace festa {

using drogon::HttpResponsePtr;

const lock::Lockable kSeats{
    .name = "seats",
    .key = "seat:{path.id}:{body.seatLocation}:{body.seatNumber}",
    .failFast = true,
    .busyCode = "SEAT_BUSY",
};

namespace {

std::int64_t performanceIn(const Asked& asked) {
  return asked.pathId("id");
}

std::int64_t reservationIn(const Asked& asked) {
  return asked.pathId("rid");
}

// Whose reservation it is: the caller's, unless the body names another user.
std::int64_t ownerIn(FieldReader& fields, const Caller& caller) {
  const auto named = fields.idIfAny("userId");
  if (named) return *named;
  if (caller.realm != Realm::kUser)
    fields.reject("userId", "누구의 예약인지 필요합니다.", "is needed from those who are no users");
  return caller.uid;
}

ReservationWish parseWish(const Asked& asked) {
  const auto performanceId = performanceIn(asked);
  FieldReader fields(asked.body());
  const auto userId = ownerIn(fields, asked.caller());
  const auto location = fields.text("seatLocation", kMaxSeatLocation);
  const auto number = fields.number("seatNumber", 1, std::numeric_limits<std::int32_t>::max());
  fields.done();
  if (!asked.caller().hasRole("ROLE_ADMIN") && asked.caller().uid != userId)
    throw ServiceError(ErrorCode::kForbidden, "a reservation for another user");
  return ReservationWish{{performanceId, location, static_cast<std::int32_t>(number)}, userId};
}

ReservationListQuery parseList(const Asked& asked) {
  return ReservationListQuery{performanceIn(asked), parsePaging(asked.request())};
}

ReservationQuery parseOne(const Asked& asked) {
  return ReservationQuery{performanceIn(asked), reservationIn(asked)};
}

std::int64_t parseReservation(const Asked& asked) {
  return reservationIn(asked);
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

void ReservationController::publish(RoutePublisher& routes) const {
  using Self = ReservationController;
  routes
      .addLocked(*this,
                 {.method = drogon::Post,
                  .path = "/customer/performances/{id}/reservations",
                  .access = kUsersAndAdmins,
                  .takesBody = true,
                  .isEnveloped = true},
                 kSeats, {"seatLocation", "seatNumber"}, parseWish, &Self::reserve)
      .refuseEarly(&Self::knownToBeSold)
      .prepareWith(&Self::readPerformance);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/customer/performances/{id}/reservations",
              .access = kUsers,
              .isEnveloped = true,
              .paged = Paged::kWhole},
             performanceIn, &Self::listOwn);
  routes.add(*this,
             {.method = drogon::Delete,
              .path = "/customer/reservations/{rid}",
              .access = kUsersAndAdmins,
              .isEnveloped = true},
             parseReservation, &Self::cancel);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/business/performances/{id}/reservations",
              .access = kAdmins,
              .isEnveloped = true,
              .paged = Paged::kByPage},
             parseList, &Self::list);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/business/performances/{id}/reservations/{rid}",
              .access = kAdmins,
              .isEnveloped = true},
             parseOne, &Self::show);
}

std::optional<ErrorCode> ReservationController::knownToBeSold(
    const Call<ReservationWish>& call) const {
  return sold_.isSold(call.input.seat) ? std::optional(ErrorCode::kAlreadyReservedSeat)
                                       : std::nullopt;
}

// Read before the sale: after COMMIT nothing may fail that the answer needs.
drogon::Task<> ReservationController::readPerformance(ReservationWish& wish) const {
  wish.performance = co_await performances_.of(wish.seat.performanceId);
}

drogon::Task<HttpResponsePtr> ReservationController::reserve(const Call<ReservationWish>& call,
                                                             WriteGuard& guard) const {
  const auto& wish = call.input;
  const auto answer = [&wish](const Reservation& reservation) {
    return Answer{drogon::k200OK, render(reservation, wish.performance)};
  };
  const auto receipt = receiptFor<Reservation>(call.context, answer);
  const auto reservation =
      co_await reservations_.reserve(wish.seat, wish.userId, guard, receipt.wanted());
  co_return toResponse(answer(reservation));
}

drogon::Task<HttpResponsePtr> ReservationController::cancel(const Call<std::int64_t>& call) const {
  const Caller& caller = call.caller();
  const Canceller who{caller.uid, caller.hasRole("ROLE_ADMIN")};
  const auto answer = [](const SeatRef&) { return Answer{drogon::k204NoContent}; };
  const auto receipt = receiptFor<SeatRef>(call.context, answer);
  const auto freed = co_await reservations_.cancel(call.input, who, receipt.wanted());
  co_return toResponse(answer(freed));
}

drogon::Task<HttpResponsePtr> ReservationController::list(
    const Call<ReservationListQuery>& call) const {
  const auto& wish = call.input;
  const auto page = co_await reservations_.list(wish.performanceId, wish.page);
  JsonWriter json;
  json.beginArray();
  for (const auto& reservation : page.items) write(json, reservation);
  const auto items = json.endArray().take();
  co_return jsonResponse(drogon::k200OK, listEnvelope(items, pagingOf(wish.page, page.totalCount)));
}

drogon::Task<HttpResponsePtr> ReservationController::listOwn(const Call<std::int64_t>& call) const {
  const auto own = co_await reservations_.own(call.input, call.caller().uid);
  JsonWriter json;
  json.beginArray();
  for (const auto& reservation : own) write(json, reservation);
  const auto count = static_cast<std::int64_t>(own.size());
  const Paging onePage{count, 0, std::max<std::int64_t>(count, 1)};
  co_return jsonResponse(drogon::k200OK, listEnvelope(json.endArray().take(), onePage));
}

drogon::Task<HttpResponsePtr> ReservationController::show(
    const Call<ReservationQuery>& call) const {
  const auto& wish = call.input;
  const auto reservation = co_await reservations_.find(wish.performanceId, wish.reservationId);
  JsonWriter json;
  write(json, reservation);
  co_return jsonResponse(drogon::k200OK, contentEnvelope(json.take()));
}

}  // namespace festa
