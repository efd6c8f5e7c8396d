#include "controllers/errors/error_mapping.h"

#include "controllers/errors/error_table.h"
#include "controllers/errors/problem.h"
#include "controllers/http/parameter.h"
#include "services/write/db_failure.h"
#include "services/write/transaction.h"

#include <trantor/utils/Logger.h>

namespace festa {

namespace {

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

// A name is "path.id", "body.field" or "token.claim".
ServiceError blame(const lock::MissingKeyVariable& missing) {
  const auto& name = missing.name();
  const auto dot = name.find('.');
  if (name.starts_with("token."))
    return invalidParameter(inHeader("Authorization"), "토큰에 필요한 값이 없습니다.",
                            "has a token without a claim that is needed here");
  return invalidParameter({name.starts_with("path.") ? "path" : "body", name.substr(dot + 1)},
                          "값이 필요합니다.", "is missing");
}

// Routes has checked at start that there is such a code. Configuration may make any lock fail fast.
ErrorCode busyCodeOf(const lock::Lockable& lockable) {
  return lockable.busyCode.empty() ? ErrorCode::kLockTimeout
                                   : errorCodeNamed(lockable.busyCode).value();
}

}  // namespace

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
    default:
      return problem(request,
                     invalidParameter({"request", "request"}, "올바른 HTTP 요청이어야 합니다.",
                                      "must be valid HTTP"));
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
  if (const auto* missing = dynamic_cast<const lock::MissingKeyVariable*>(&error))
    return problem(request, blame(*missing));
  return problem(request, ServiceError(code));
}

drogon::HttpResponsePtr toResponse(const drogon::HttpRequestPtr& request,
                                   const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return toResponse(request, known);
  } catch (...) {
    return toResponse(request,
                      std::runtime_error("something was thrown that is not a std::exception"));
  }
}

drogon::HttpResponsePtr lockRefusal(const drogon::HttpRequestPtr& request,
                                    lock::LockOutcome outcome, const lock::Lockable& lockable) {
  switch (outcome) {
    case lock::LockOutcome::kBusy: return problem(request, ServiceError(busyCodeOf(lockable)));
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
