#include "controllers/errors/problem.h"

#include "controllers/errors/error_table.h"
#include "controllers/http/preference.h"
#include "controllers/http/request_context.h"
#include "controllers/json/json_writer.h"

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

}  // namespace festa
