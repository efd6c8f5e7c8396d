#include "controllers/errors/error_table.h"

#include <algorithm>
#include <array>

namespace festa {

namespace {

constexpr std::array kRows{
    ErrorRow{ErrorCode::kMalformedJson, 400, "MALFORMED_JSON",
             "요청 본문이 올바른 JSON 객체가 아닙니다.",
             "The request body is not a valid JSON object."},
    ErrorRow{ErrorCode::kInvalidParameter, 400, "INVALID_PARAMETER",
             "경로, 헤더 또는 쿼리 값이 올바르지 않습니다.",
             "A path, header or query value is not valid."},
    ErrorRow{ErrorCode::kUnauthenticated, 401, "UNAUTHENTICATED", "로그인이 필요합니다.",
             "Please log in."},
    ErrorRow{ErrorCode::kWrongCredentials, 401, "WRONG_CREDENTIALS",
             "아이디 또는 비밀번호가 올바르지 않습니다.", "The user name or password is wrong."},
    ErrorRow{ErrorCode::kForbidden, 403, "FORBIDDEN", "권한이 없습니다.",
             "You are not allowed to do this."},
    ErrorRow{ErrorCode::kAnnouncementNotInFestival, 403, "ANNOUNCEMENT_NOT_IN_FESTIVAL",
             "해당 축제의 공지가 아닙니다.", "The announcement belongs to another festival."},
    ErrorRow{ErrorCode::kLineupNotInFestival, 403, "LINEUP_NOT_IN_FESTIVAL",
             "해당 축제의 라인업이 아닙니다.", "The line-up entry belongs to another festival."},
    ErrorRow{ErrorCode::kEventDateNotInFestival, 403, "EVENT_DATE_NOT_IN_FESTIVAL",
             "해당 축제의 일정 날짜가 아닙니다.", "The event date belongs to another festival."},
    ErrorRow{ErrorCode::kEventNotInFestival, 403, "EVENT_NOT_IN_FESTIVAL",
             "해당 축제의 일정이 아닙니다.", "The event belongs to another festival."},
    ErrorRow{ErrorCode::kQuestionNotInFestival, 403, "QUESTION_NOT_IN_FESTIVAL",
             "해당 축제의 질문이 아닙니다.", "The question belongs to another festival."},
    ErrorRow{ErrorCode::kLostItemNotInFestival, 403, "LOST_ITEM_NOT_IN_FESTIVAL",
             "해당 축제의 분실물이 아닙니다.", "The lost item belongs to another festival."},
    ErrorRow{ErrorCode::kFestivalNotFound, 404, "FESTIVAL_NOT_FOUND", "존재하지 않는 축제입니다.",
             "There is no such festival."},
    ErrorRow{ErrorCode::kAnnouncementNotFound, 404, "ANNOUNCEMENT_NOT_FOUND",
             "존재하지 않는 공지입니다.", "There is no such announcement."},
    ErrorRow{ErrorCode::kLineupNotFound, 404, "LINEUP_NOT_FOUND", "존재하지 않는 라인업입니다.",
             "There is no such line-up entry."},
    ErrorRow{ErrorCode::kEventDateNotFound, 404, "EVENT_DATE_NOT_FOUND",
             "존재하지 않는 일정 날짜입니다.", "There is no such event date."},
    ErrorRow{ErrorCode::kEventNotFound, 404, "EVENT_NOT_FOUND", "존재하지 않는 일정입니다.",
             "There is no such event."},
    ErrorRow{ErrorCode::kQuestionNotFound, 404, "QUESTION_NOT_FOUND", "존재하지 않는 질문입니다.",
             "There is no such question."},
    ErrorRow{ErrorCode::kLostItemNotFound, 404, "LOST_ITEM_NOT_FOUND",
             "존재하지 않는 분실물입니다.", "There is no such lost item."},
    ErrorRow{ErrorCode::kPlaceNotFound, 404, "PLACE_NOT_FOUND", "존재하지 않는 공연장입니다.",
             "There is no such place."},
    ErrorRow{ErrorCode::kPerformanceNotFound, 404, "PERFORMANCE_NOT_FOUND",
             "존재하지 않는 공연입니다.", "There is no such performance."},
    ErrorRow{ErrorCode::kSeatNotFound, 404, "SEAT_NOT_FOUND", "존재하지 않는 좌석입니다.",
             "There is no such seat."},
    ErrorRow{ErrorCode::kUserNotFound, 404, "USER_NOT_FOUND", "존재하지 않는 사용자입니다.",
             "There is no such user."},
    ErrorRow{ErrorCode::kReservationNotFound, 404, "RESERVATION_NOT_FOUND",
             "존재하지 않는 예약입니다.", "There is no such reservation."},
    ErrorRow{ErrorCode::kCouponNotFound, 404, "COUPON_NOT_FOUND", "존재하지 않는 쿠폰입니다.",
             "There is no such coupon."},
    ErrorRow{ErrorCode::kClaimNotFound, 404, "CLAIM_NOT_FOUND", "존재하지 않는 쿠폰 신청입니다.",
             "There is no such claim."},
    ErrorRow{ErrorCode::kRaceNotFound, 404, "RACE_NOT_FOUND", "존재하지 않는 경주입니다.",
             "There is no such race."},
    ErrorRow{ErrorCode::kRouteNotFound, 404, "ROUTE_NOT_FOUND", "존재하지 않는 주소입니다.",
             "There is nothing at this address."},
    ErrorRow{ErrorCode::kMethodNotAllowed, 405, "METHOD_NOT_ALLOWED", "허용되지 않는 메서드입니다.",
             "This method is not allowed here."},
    ErrorRow{ErrorCode::kRequestTimeout, 408, "REQUEST_TIMEOUT",
             "요청이 너무 느리게 전송되었습니다. 다시 시도해 주세요.",
             "The request was sent too slowly. Please try again."},
    ErrorRow{ErrorCode::kPinnedLimitExceeded, 409, "PINNED_LIMIT_EXCEEDED",
             "공지는 최대 3개까지 고정할 수 있습니다.", "At most 3 announcements can be pinned."},
    ErrorRow{ErrorCode::kFestivalLimitExceeded, 409, "FESTIVAL_LIMIT_EXCEEDED",
             "축제에 더 이상 추가할 수 없습니다.",
             "The festival has as many of these as it can have."},
    ErrorRow{ErrorCode::kAlreadyRegisteredEventDate, 409, "ALREADY_REGISTERED_EVENT_DATE",
             "이미 존재하는 일정 날짜입니다.", "The festival has this date already."},
    ErrorRow{ErrorCode::kSeatBusy, 409, "SEAT_BUSY",
             "다른 사람이 이 좌석을 예약하는 중입니다. 잠시 후 다시 시도해 주세요.",
             "Somebody is buying this seat right now. Please try again in a moment."},
    ErrorRow{ErrorCode::kAlreadyReservedSeat, 409, "ALREADY_RESERVED_SEAT",
             "이미 예약된 좌석입니다.", "This seat is already reserved."},
    ErrorRow{ErrorCode::kReservationClosed, 409, "RESERVATION_CLOSED",
             "예약 가능한 시간이 아닙니다.", "Reservations are not open now."},
    ErrorRow{ErrorCode::kPlaceSeatsExceeded, 409, "PLACE_SEATS_EXCEEDED",
             "공연장의 최대 좌석 수를 초과했습니다.", "The place does not have that many seats."},
    ErrorRow{ErrorCode::kCouponSoldOut, 409, "COUPON_SOLD_OUT", "쿠폰이 모두 소진되었습니다.",
             "The coupon is sold out."},
    ErrorRow{ErrorCode::kAlreadyClaimed, 409, "ALREADY_CLAIMED", "이미 받은 쿠폰입니다.",
             "You have claimed this coupon already."},
    ErrorRow{ErrorCode::kAlreadyRegisteredUser, 409, "ALREADY_REGISTERED_USER",
             "이미 등록된 사용자 아이디입니다.", "This user id is already registered."},
    ErrorRow{ErrorCode::kAlreadyRegisteredCouncil, 409, "ALREADY_REGISTERED_COUNCIL",
             "이미 등록된 학생회 아이디입니다.", "This user name is already registered."},
    ErrorRow{ErrorCode::kRequestInProgress, 409, "REQUEST_IN_PROGRESS",
             "같은 요청을 처리하는 중입니다. 잠시 후 다시 확인해 주세요.",
             "The same request is still being served. Please try again in a moment."},
    ErrorRow{ErrorCode::kRaceRunning, 409, "RACE_RUNNING",
             "다른 경주가 진행 중입니다. 끝난 뒤에 다시 시작해 주세요.",
             "Another race is running. Please start yours when it is over."},
    ErrorRow{ErrorCode::kBodyTooLarge, 413, "BODY_TOO_LARGE", "요청 본문이 너무 큽니다.",
             "The request body is too large."},
    ErrorRow{ErrorCode::kUnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE",
             "Content-Type은 application/json이어야 합니다.",
             "The Content-Type must be application/json."},
    ErrorRow{ErrorCode::kValidationFailed, 422, "VALIDATION_FAILED", "입력값을 확인해 주세요.",
             "Please check your input."},
    ErrorRow{ErrorCode::kIdempotencyKeyReused, 422, "IDEMPOTENCY_KEY_REUSED",
             "이 Idempotency-Key는 다른 요청에 사용되었습니다.",
             "This Idempotency-Key was used for another request."},
    ErrorRow{ErrorCode::kRateLimited, 429, "RATE_LIMITED",
             "요청이 너무 많습니다. 잠시 후 다시 시도해 주세요.",
             "Too many requests. Please try again in a moment."},
    ErrorRow{ErrorCode::kNotifiedRecently, 429, "NOTIFIED_RECENTLY",
             "이 공지의 알림은 3분에 한 번만 보낼 수 있습니다. 잠시 후 다시 시도해 주세요.",
             "An announcement can be notified once in three minutes. Please try again later."},
    ErrorRow{ErrorCode::kHeadersTooLarge, 431, "HEADERS_TOO_LARGE", "요청 헤더가 너무 큽니다.",
             "The request headers are too large."},
    ErrorRow{ErrorCode::kLockTimeout, 503, "LOCK_TIMEOUT",
             "요청이 몰려 처리하지 못했습니다. 잠시 후 다시 시도해 주세요.",
             "Too many people want the same thing. Please try again in a moment."},
    ErrorRow{ErrorCode::kDatabaseBusy, 503, "DATABASE_BUSY",
             "데이터베이스가 혼잡합니다. 잠시 후 다시 시도해 주세요.",
             "The database is busy; nothing was stored. Please try again in a moment."},
    ErrorRow{ErrorCode::kLockLost, 503, "LOCK_LOST",
             "처리가 늦어져 취소되었습니다. 다시 시도해 주세요.",
             "It took too long and was called off; nothing was stored. Please try again."},
    ErrorRow{ErrorCode::kOverloaded, 503, "OVERLOADED",
             "서버가 혼잡합니다. 잠시 후 다시 시도해 주세요.",
             "The server is busy. Please try again in a moment."},
    ErrorRow{ErrorCode::kShuttingDown, 503, "SHUTTING_DOWN",
             "서버가 종료 중입니다. 다시 시도해 주세요.",
             "This server is stopping. Please try again."},
    ErrorRow{ErrorCode::kDatabaseUnavailable, 503, "DATABASE_UNAVAILABLE",
             "데이터베이스에 연결할 수 없습니다. 잠시 후 다시 시도해 주세요.",
             "The database cannot be reached; nothing was stored. Please try again in a moment."},
    ErrorRow{
        ErrorCode::kLockStorageUnavailable, 503, "LOCK_STORAGE_UNAVAILABLE",
        "일시적으로 처리할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "This cannot be done at the moment; nothing was stored. Please try again in a moment."},
    ErrorRow{
        ErrorCode::kQueueUnavailable, 503, "QUEUE_UNAVAILABLE",
        "대기열을 사용할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "The waiting queue cannot be reached; nothing was stored. Please try again in a moment."},
    ErrorRow{ErrorCode::kInternal, 500, "INTERNAL", "서버 오류가 발생했습니다.",
             "Something went wrong on our side."},
    ErrorRow{
        ErrorCode::kCommitUnconfirmed, 500, "COMMIT_UNCONFIRMED",
        "처리 결과를 확인하지 못했습니다. 목록을 다시 조회하여 반영 여부를 확인해 주세요.",
        "Whether this was stored is unknown. Read the resource again to find out before you repeat "
        "it."},
};

// A row stands at its code's place.
constexpr bool isComplete() {
  if (kRows.size() != static_cast<std::size_t>(ErrorCode::kCommitUnconfirmed) + 1) return false;
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<std::size_t>(kRows[i].code) != i) return false;
  return true;
}
static_assert(isComplete());

}  // namespace

const ErrorRow& rowOf(ErrorCode code) {
  return kRows[static_cast<std::size_t>(code)];
}

std::optional<ErrorCode> errorCodeNamed(std::string_view name) {
  const auto* const found = std::find_if(kRows.begin(), kRows.end(),
                                         [name](const ErrorRow& row) { return name == row.name; });
  return found != kRows.end() ? std::optional(found->code) : std::nullopt;
}

}  // namespace festa
