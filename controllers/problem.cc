#include "controllers/problem.h"

#include "controllers/error_table.h"
#include "controllers/json_writer.h"
#include "controllers/request_context.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

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
bool shouldComeBack(const ErrorRow& row) {
  return row.status == 503 || row.status == 429 || row.code == ErrorCode::kSeatBusy ||
         row.code == ErrorCode::kRequestInProgress;
}

// Clients of these routes know the result from an envelope.
bool wantsMeta(const drogon::HttpRequestPtr& request) {
  const auto* const context = findContext(request);
  return context != nullptr && context->route.isEnveloped();
}

std::string kebab(const char* name) {
  std::string text(name);
  for (char& c : text)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string problemBody(const drogon::HttpRequestPtr& request, const ErrorRow& row,
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
