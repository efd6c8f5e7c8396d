#include "app/error_mapper.h"

#include "controllers/json_writer.h"
#include "lock/key_template.h"
#include "services/db_failure.h"
#include "services/transaction.h"

#include <trantor/utils/Logger.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace festa {

namespace {

struct Row {
  ErrorCode code;
  int status;
  const char* name;
  const char* ko;
  const char* en;
};

constexpr std::array kRows{
    Row{ErrorCode::kMalformedJson, 400, "MALFORMED_JSON",
        "요청 본문이 올바른 JSON 객체가 아닙니다.", "The request body is not a valid JSON object."},
    Row{ErrorCode::kInvalidParameter, 400, "INVALID_PARAMETER",
        "경로, 헤더 또는 쿼리 값이 올바르지 않습니다.",
        "A path, header or query value is not valid."},
    Row{ErrorCode::kUnauthenticated, 401, "UNAUTHENTICATED", "로그인이 필요합니다.",
        "Please log in."},
    Row{ErrorCode::kWrongCredentials, 401, "WRONG_CREDENTIALS",
        "아이디 또는 비밀번호가 올바르지 않습니다.", "The user name or password is wrong."},
    Row{ErrorCode::kForbidden, 403, "FORBIDDEN", "권한이 없습니다.",
        "You are not allowed to do this."},
    Row{ErrorCode::kAnnouncementNotInFestival, 403, "ANNOUNCEMENT_NOT_IN_FESTIVAL",
        "해당 축제의 공지가 아닙니다.", "The announcement belongs to another festival."},
    Row{ErrorCode::kFestivalNotFound, 404, "FESTIVAL_NOT_FOUND", "존재하지 않는 축제입니다.",
        "There is no such festival."},
    Row{ErrorCode::kAnnouncementNotFound, 404, "ANNOUNCEMENT_NOT_FOUND",
        "존재하지 않는 공지입니다.", "There is no such announcement."},
    Row{ErrorCode::kPlaceNotFound, 404, "PLACE_NOT_FOUND", "존재하지 않는 공연장입니다.",
        "There is no such place."},
    Row{ErrorCode::kPerformanceNotFound, 404, "PERFORMANCE_NOT_FOUND", "존재하지 않는 공연입니다.",
        "There is no such performance."},
    Row{ErrorCode::kSeatNotFound, 404, "SEAT_NOT_FOUND", "존재하지 않는 좌석입니다.",
        "There is no such seat."},
    Row{ErrorCode::kUserNotFound, 404, "USER_NOT_FOUND", "존재하지 않는 사용자입니다.",
        "There is no such user."},
    Row{ErrorCode::kReservationNotFound, 404, "RESERVATION_NOT_FOUND", "존재하지 않는 예약입니다.",
        "There is no such reservation."},
    Row{ErrorCode::kCouponNotFound, 404, "COUPON_NOT_FOUND", "존재하지 않는 쿠폰입니다.",
        "There is no such coupon."},
    Row{ErrorCode::kClaimNotFound, 404, "CLAIM_NOT_FOUND", "존재하지 않는 쿠폰 신청입니다.",
        "There is no such claim."},
    Row{ErrorCode::kRouteNotFound, 404, "ROUTE_NOT_FOUND", "존재하지 않는 주소입니다.",
        "There is nothing at this address."},
    Row{ErrorCode::kMethodNotAllowed, 405, "METHOD_NOT_ALLOWED", "허용되지 않는 메서드입니다.",
        "This method is not allowed here."},
    Row{ErrorCode::kRequestTimeout, 408, "REQUEST_TIMEOUT",
        "요청이 너무 느리게 전송되었습니다. 다시 시도해 주세요.",
        "The request was sent too slowly. Please try again."},
    Row{ErrorCode::kPinnedLimitExceeded, 409, "PINNED_LIMIT_EXCEEDED",
        "공지는 최대 3개까지 고정할 수 있습니다.", "At most 3 announcements can be pinned."},
    Row{ErrorCode::kSeatBusy, 409, "SEAT_BUSY",
        "다른 사람이 이 좌석을 예약하는 중입니다. 잠시 후 다시 시도해 주세요.",
        "Somebody is buying this seat right now. Please try again in a moment."},
    Row{ErrorCode::kAlreadyReservedSeat, 409, "ALREADY_RESERVED_SEAT", "이미 예약된 좌석입니다.",
        "This seat is already reserved."},
    Row{ErrorCode::kReservationClosed, 409, "RESERVATION_CLOSED", "예약 가능한 시간이 아닙니다.",
        "Reservations are not open now."},
    Row{ErrorCode::kPlaceSeatsExceeded, 409, "PLACE_SEATS_EXCEEDED",
        "공연장의 최대 좌석 수를 초과했습니다.", "The place does not have that many seats."},
    Row{ErrorCode::kCouponSoldOut, 409, "COUPON_SOLD_OUT", "쿠폰이 모두 소진되었습니다.",
        "The coupon is sold out."},
    Row{ErrorCode::kAlreadyClaimed, 409, "ALREADY_CLAIMED", "이미 받은 쿠폰입니다.",
        "You have claimed this coupon already."},
    Row{ErrorCode::kAlreadyRegisteredUser, 409, "ALREADY_REGISTERED_USER",
        "이미 등록된 사용자 아이디입니다.", "This user id is already registered."},
    Row{ErrorCode::kAlreadyRegisteredCouncil, 409, "ALREADY_REGISTERED_COUNCIL",
        "이미 등록된 학생회 아이디입니다.", "This user name is already registered."},
    Row{ErrorCode::kRequestInProgress, 409, "REQUEST_IN_PROGRESS",
        "같은 요청을 처리하는 중입니다. 잠시 후 다시 확인해 주세요.",
        "The same request is still being served. Please try again in a moment."},
    Row{ErrorCode::kBodyTooLarge, 413, "BODY_TOO_LARGE", "요청 본문이 너무 큽니다.",
        "The request body is too large."},
    Row{ErrorCode::kUnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE",
        "Content-Type은 application/json이어야 합니다.",
        "The Content-Type must be application/json."},
    Row{ErrorCode::kValidationFailed, 422, "VALIDATION_FAILED", "입력값을 확인해 주세요.",
        "Please check your input."},
    Row{ErrorCode::kIdempotencyKeyReused, 422, "IDEMPOTENCY_KEY_REUSED",
        "이 Idempotency-Key는 다른 요청에 사용되었습니다.",
        "This Idempotency-Key was used for another request."},
    Row{ErrorCode::kRateLimited, 429, "RATE_LIMITED",
        "요청이 너무 많습니다. 잠시 후 다시 시도해 주세요.",
        "Too many requests. Please try again in a moment."},
    Row{ErrorCode::kHeadersTooLarge, 431, "HEADERS_TOO_LARGE", "요청 헤더가 너무 큽니다.",
        "The request headers are too large."},
    Row{ErrorCode::kLockTimeout, 503, "LOCK_TIMEOUT",
        "요청이 몰려 처리하지 못했습니다. 잠시 후 다시 시도해 주세요.",
        "Too many people want the same thing. Please try again in a moment."},
    Row{ErrorCode::kDatabaseBusy, 503, "DATABASE_BUSY",
        "데이터베이스가 혼잡합니다. 잠시 후 다시 시도해 주세요.",
        "The database is busy; nothing was stored. Please try again in a moment."},
    Row{ErrorCode::kLockLost, 503, "LOCK_LOST", "처리가 늦어져 취소되었습니다. 다시 시도해 주세요.",
        "It took too long and was called off; nothing was stored. Please try again."},
    Row{ErrorCode::kOverloaded, 503, "OVERLOADED", "서버가 혼잡합니다. 잠시 후 다시 시도해 주세요.",
        "The server is busy. Please try again in a moment."},
    Row{ErrorCode::kShuttingDown, 503, "SHUTTING_DOWN", "서버가 종료 중입니다. 다시 시도해 주세요.",
        "This server is stopping. Please try again."},
    Row{ErrorCode::kDatabaseUnavailable, 503, "DATABASE_UNAVAILABLE",
        "데이터베이스에 연결할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "The database cannot be reached; nothing was stored. Please try again in a moment."},
    Row{ErrorCode::kLockStorageUnavailable, 503, "LOCK_STORAGE_UNAVAILABLE",
        "일시적으로 처리할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "This cannot be done at the moment; nothing was stored. Please try again in a moment."},
    Row{ErrorCode::kQueueUnavailable, 503, "QUEUE_UNAVAILABLE",
        "대기열을 사용할 수 없습니다. 잠시 후 다시 시도해 주세요.",
        "The waiting queue cannot be reached; nothing was stored. Please try again in a moment."},
    Row{ErrorCode::kInternal, 500, "INTERNAL", "서버 오류가 발생했습니다.",
        "Something went wrong on our side."},
    Row{ErrorCode::kCommitUnconfirmed, 500, "COMMIT_UNCONFIRMED",
        "처리 결과를 확인하지 못했습니다. 목록을 다시 조회하여 반영 여부를 확인해 주세요.",
        "Whether this was stored is unknown. Read the resource again to find out before you repeat "
        "it."},
};
static_assert(kRows.size() == static_cast<std::size_t>(ErrorCode::kCommitUnconfirmed) + 1);

const Row& rowOf(ErrorCode code) {
  for (const auto& row : kRows)
    if (row.code == code) return row;
  throw std::logic_error("an error code has no row");
}

// The path as a URI reference: what a client may have sent raw is percent-encoded.
std::string instanceOf(const drogon::HttpRequestPtr& request) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : request->path()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F) {
      text += c;
    } else {
      text += '%';
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    }
  }
  return text;
}

// The weight that an Accept-Language header gives to a language; 0: none.
double weightOf(const std::string& header, const std::string& language) {
  double best = 0;
  std::istringstream ranges(header);
  for (std::string range; std::getline(ranges, range, ',');) {
    std::transform(range.begin(), range.end(), range.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    range.erase(std::remove(range.begin(), range.end(), ' '), range.end());
    const auto tag = range.substr(0, range.find_first_of(";-"));
    const auto quality = range.find(";q=");
    if (tag != language) continue;
    best = std::max(best, quality == std::string::npos
                              ? 1.0
                              : std::strtod(range.c_str() + quality + 3, nullptr));
  }
  return best;
}

bool wantsEnglish(const drogon::HttpRequestPtr& request) {
  const auto& header = request->getHeader("accept-language");
  return !header.empty() && weightOf(header, "en") > weightOf(header, "ko");
}

void writeFields(JsonWriter& json, const std::vector<FieldError>& fields, bool english) {
  json.key("errors").beginArray();
  for (const auto& field : fields)
    json.beginObject()
        .member("field", field.field)
        .member("message", english ? field.en : field.ko)
        .endObject();
  json.endArray();
}

// Waiting helps.
bool shouldComeBack(const Row& row) {
  return row.status == 503 || row.status == 429 || row.code == ErrorCode::kSeatBusy ||
         row.code == ErrorCode::kRequestInProgress;
}

// Clients of these routes know the result from an envelope.
bool wantsMeta(const drogon::HttpRequestPtr& request) {
  static const std::array<std::string, 5> kPrefixes{"/users", "/performance", "/performances",
                                                    "/customer", "/business"};
  const auto& path = request->path();
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const std::string& prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  });
}

std::string kebab(const char* name) {
  std::string text(name);
  for (char& c : text)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string problemBody(const drogon::HttpRequestPtr& request, const Row& row,
                        const std::vector<FieldError>& fields) {
  const bool english = wantsEnglish(request);
  const std::string text = english ? row.en : row.ko;
  JsonWriter json;
  json.beginObject()
      .member("type", "about:blank")
      .member("title", row.name)
      .member("status", static_cast<std::int64_t>(row.status))
      .member("detail", text)
      .member("instance", instanceOf(request))
      .member("code", row.name)
      .member("message", text);
  if (row.code == ErrorCode::kValidationFailed) writeFields(json, fields, english);
  if (wantsMeta(request))
    json.key("meta")
        .beginObject()
        .member("result", "fail")
        .member("errorCode", kebab(row.name))
        .member("errorMessage", text)
        .endObject();
  return json.endObject().take();
}

ErrorCode codeOf(const std::exception& error) {
  if (const auto* service = dynamic_cast<const ServiceError*>(&error)) return service->code();
  if (dynamic_cast<const CommitUnknown*>(&error) != nullptr) return ErrorCode::kCommitUnconfirmed;
  if (dynamic_cast<const lock::MissingKeyVariable*>(&error) != nullptr)
    return ErrorCode::kInvalidParameter;
  if (dynamic_cast<const lock::LockStorageUnavailable*>(&error) != nullptr)
    return ErrorCode::kLockStorageUnavailable;
  if (const auto* database = dynamic_cast<const drogon::orm::DrogonDbException*>(&error))
    return toErrorCode(classify(*database));
  return ErrorCode::kInternal;
}

}  // namespace

ErrorCode codeOf(const std::string& name) {
  for (const auto& row : kRows)
    if (name == row.name) return row.code;
  return ErrorCode::kLockTimeout;
}

const char* nameOf(ErrorCode code) {
  return rowOf(code).name;
}

drogon::HttpResponsePtr problem(const drogon::HttpRequestPtr& request, const ServiceError& error) {
  const auto& row = rowOf(error.code());
  auto response = drogon::HttpResponse::newHttpResponse(
      static_cast<drogon::HttpStatusCode>(row.status), drogon::CT_CUSTOM);
  response->setContentTypeString("application/problem+json; charset=utf-8");
  response->setBody(problemBody(request, row, error.fields()));
  if (shouldComeBack(row))
    response->addHeader("Retry-After", std::to_string(error.retryAfter().count()));
  if (row.status == 401) response->addHeader("WWW-Authenticate", "Bearer");
  return response;
}

drogon::HttpResponsePtr refusalOf(const drogon::HttpRequestPtr& request,
                                  drogon::HttpStatusCode status) {
  switch (status) {
    case drogon::k408RequestTimeout:
      return problem(request, ServiceError(ErrorCode::kRequestTimeout));
    case drogon::k413RequestEntityTooLarge:
      return problem(request, ServiceError(ErrorCode::kBodyTooLarge));
    case drogon::k431RequestHeaderFieldsTooLarge:
      return problem(request, ServiceError(ErrorCode::kHeadersTooLarge));
    case drogon::k503ServiceUnavailable:
      return problem(request, ServiceError(ErrorCode::kOverloaded));
    case drogon::k404NotFound: return problem(request, ServiceError(ErrorCode::kRouteNotFound));
    case drogon::k405MethodNotAllowed:
      return problem(request, ServiceError(ErrorCode::kMethodNotAllowed));
    default: return problem(request, ServiceError(ErrorCode::kInvalidParameter));
  }
}

drogon::HttpResponsePtr toResponse(const drogon::HttpRequestPtr& request,
                                   const std::exception& error) {
  const auto code = codeOf(error);
  // what() of a database error may quote data; it goes to the log of an operator, never to a
  // client.
  const auto& row = rowOf(code);
  if (row.status == 500)
    LOG_ERROR << row.name << " on " << request->methodString() << ": " << error.what();
  else if (row.status > 500)
    LOG_WARN << row.name << " on " << request->methodString() << ": " << error.what();
  if (const auto* service = dynamic_cast<const ServiceError*>(&error))
    return problem(request, *service);
  return problem(request, ServiceError(code));
}

drogon::HttpResponsePtr lockRefusal(const drogon::HttpRequestPtr& request,
                                    lock::LockOutcome outcome, const lock::Lockable& lockable) {
  switch (outcome) {
    case lock::LockOutcome::kBusy: return problem(request, ServiceError(codeOf(lockable.busyCode)));
    case lock::LockOutcome::kOverloaded:
      return problem(request, ServiceError(ErrorCode::kOverloaded));
    case lock::LockOutcome::kClosed:
      return problem(request, ServiceError(ErrorCode::kShuttingDown));
    case lock::LockOutcome::kUnavailable:
      return problem(request, ServiceError(ErrorCode::kLockStorageUnavailable));
    default: return problem(request, ServiceError(ErrorCode::kLockTimeout));
  }
}

}  // namespace festa
