#include "controllers/errors/problem.h"

#include "controllers/errors/error_table.h"
#include "controllers/http/asked.h"
#include "controllers/http/representation.h"
#include "controllers/http/request_context.h"
#include "controllers/json/json_writer.h"
#include "lock/lockable.h"
#include "services/write/db_failure.h"
#include "services/write/transaction.h"

#include <trantor/utils/Logger.h>

#include <map>

namespace festa {

namespace {

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

void writeFields(JsonWriter& json, const std::vector<FieldError>& fields, bool english) {
  json.key("errors").beginArray();
  for (const auto& field : fields) {
    json.beginObject().member("field", field.field);
    if (!field.in.empty()) json.member("in", field.in);
    json.member("message", english ? field.en : field.ko).endObject();
  }
  json.endArray();
}

std::string placeOf(const FieldError& error, bool english) {
  static const std::map<std::string, std::string> kKorean{{"path", "경로"},
                                                          {"query", "쿼리"},
                                                          {"header", "헤더"},
                                                          {"body", "본문"},
                                                          {"request", "요청"}};
  return english ? error.in : kKorean.at(error.in);
}

// A sentence about the one value that is to blame, or what the table says of the code.
std::string textOf(const ErrorRow& row, const std::vector<FieldError>& fields, bool english) {
  if (fields.size() != 1 || fields[0].in.empty()) return english ? row.en : row.ko;
  const auto& error = fields[0];
  const auto place = " (" + placeOf(error, english) + ')';
  const auto name = error.field + (error.field == error.in ? "" : place);
  return english ? name + ' ' + error.en + '.' : name + ": " + error.ko;
}

// Waiting helps.
bool shouldComeBack(const ErrorRow& row) {
  return row.status == 503 || row.status == 429 || row.code == ErrorCode::kSeatBusy ||
         row.code == ErrorCode::kRequestInProgress;
}

// Clients of these routes know the result from an envelope.
bool wantsMeta(const drogon::HttpRequestPtr& request) {
  const auto* const context = findContext(request);
  return context != nullptr && context->match.isEnveloped();
}

std::string kebab(const char* name) {
  std::string text(name);
  for (char& c : text)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string problemBody(const drogon::HttpRequestPtr& request, const ErrorRow& row,
                        const std::vector<FieldError>& fields) {
  const bool english = wantsEnglish(*request);
  const auto text = textOf(row, fields, english);
  JsonWriter json;
  json.beginObject()
      .member("type", "about:blank")
      .member("title", row.name)
      .member("status", static_cast<std::int64_t>(row.status))
      .member("detail", text)
      .member("instance", instanceOf(request))
      .member("code", row.name)
      .member("message", text);
  if (!fields.empty()) writeFields(json, fields, english);
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

// RoutePublisher has checked at start that there is such a code. Configuration may make any lock
// fail fast.
ErrorCode busyCodeOf(const lock::Lockable& lockable) {
  return lockable.busyCode.empty() ? ErrorCode::kLockTimeout
                                   : errorCodeNamed(lockable.busyCode).value();
}

}  // namespace

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
