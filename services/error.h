// The errors of the services. Their statuses, names and texts: controllers/errors/error_table.cc.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace festa {

enum class ErrorCode {
  kMalformedJson,
  kInvalidParameter,
  kUnauthenticated,
  kWrongCredentials,
  kForbidden,
  kAnnouncementNotInFestival,
  kLineupNotInFestival,
  kEventDateNotInFestival,
  kEventNotInFestival,
  kQuestionNotInFestival,
  kLostItemNotInFestival,
  kFestivalNotFound,
  kAnnouncementNotFound,
  kLineupNotFound,
  kEventDateNotFound,
  kEventNotFound,
  kQuestionNotFound,
  kLostItemNotFound,
  kPlaceNotFound,
  kPerformanceNotFound,
  kSeatNotFound,
  kUserNotFound,
  kReservationNotFound,
  kCouponNotFound,
  kClaimNotFound,
  kRaceNotFound,
  kRouteNotFound,
  kMethodNotAllowed,
  kRequestTimeout,
  kPinnedLimitExceeded,
  kFestivalLimitExceeded,
  kAlreadyRegisteredEventDate,
  kSeatBusy,
  kAlreadyReservedSeat,
  kReservationClosed,
  kPlaceSeatsExceeded,
  kCouponSoldOut,
  kAlreadyClaimed,
  kAlreadyRegisteredUser,
  kAlreadyRegisteredCouncil,
  kRequestInProgress,
  kRaceRunning,
  kBodyTooLarge,
  kUnsupportedMediaType,
  kValidationFailed,
  kIdempotencyKeyReused,
  kRateLimited,
  kNotifiedRecently,
  kHeadersTooLarge,
  kLockTimeout,
  kDatabaseBusy,
  kLockLost,
  kOverloaded,
  kShuttingDown,
  kDatabaseUnavailable,
  kLockStorageUnavailable,
  kQueueUnavailable,
  kInternal,
  kCommitUnconfirmed,
};

// What is wrong with one value of a request.
struct FieldError {
  std::string field;
  std::string ko;
  std::string en;
  std::string in = {};  // "path", "query", "header", "body", "request"; empty: the request is
                        // refused for all that is wrong with its body
};

// Thrown when a request cannot be served; controllers/errors/problem makes the answer of it.
// what() is for the log and never sent.
class ServiceError : public std::runtime_error {
 public:
  explicit ServiceError(ErrorCode code, const std::string& forTheLog = {})
      : std::runtime_error(forTheLog), code_(code) {}
  // The value that is to blame.
  ServiceError(ErrorCode code, FieldError what)
      : std::runtime_error(what.field + ' ' + what.en), code_(code), fields_{std::move(what)} {}
  explicit ServiceError(std::vector<FieldError> fields)
      : std::runtime_error("validation failed"),
        code_(ErrorCode::kValidationFailed),
        fields_(std::move(fields)) {}

  ErrorCode code() const { return code_; }
  const std::vector<FieldError>& fields() const { return fields_; }

  // The Retry-After header, for codes where waiting helps.
  std::chrono::seconds retryAfter() const { return retryAfter_; }
  void retryAfter(std::chrono::seconds wait) { retryAfter_ = wait; }

 private:
  ErrorCode code_;
  std::vector<FieldError> fields_;
  std::chrono::seconds retryAfter_{1};
};

}  // namespace festa
