#include "controllers/pages/docs_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/pages/embedded_files.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

namespace festa {

namespace {

// The document has a place for what the program knows.
void fillPlace(std::string& document, const std::string& place, const std::string& json) {
  const auto quoted = '"' + place + '"';
  const auto at = document.find(quoted);
  if (at == std::string::npos) throw std::logic_error("openapi.json has no " + quoted);
  document.replace(at, quoted.size(), json);
}

std::string listOf(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) {
    if (!list.empty()) list += ", ";
    appendQuoted(list, text);
  }
  return list;
}

std::string documentWith(const std::string& version, const std::vector<std::string>& strategies) {
  std::string document(contentOf(docsFiles(), "openapi.json"));
  fillPlace(document, "{version}", listOf({version}));
  fillPlace(document, "{strategies}", listOf(strategies));
  return document;
}

// "GET /path". What a path has beside its operations, e.g. parameters, is none.
std::set<std::string> operationsOf(const Json::Value& document, bool lab) {
  static const std::set<std::string> kMethods{"get",  "put",     "post",  "delete",
                                              "head", "options", "patch", "trace"};
  std::set<std::string> operations;
  const auto& paths = document["paths"];
  for (const auto& path : paths.getMemberNames())
    for (auto method : paths[path].getMemberNames()) {
      if (!kMethods.contains(method)) continue;
      if (!lab && paths[path][method]["x-lab"].asBool()) continue;
      std::transform(method.begin(), method.end(), method.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      operations.insert(method + ' ' + path);
    }
  return operations;
}

std::set<std::string> namesOf(const RouteTable& routes) {
  std::set<std::string> names;
  for (const auto* route : routes.all())
    names.insert(methodName(route->spec().method) + ' ' + route->spec().path);
  return names;
}

}  // namespace

std::vector<std::string> openApiGaps(const RouteTable& routes, const Json::Value& document,
                                     bool lab) {
  const auto served = namesOf(routes);
  const auto described = operationsOf(document, lab);
  std::vector<std::string> gaps;
  for (const auto& route : served)
    if (!described.contains(route)) gaps.push_back(route + " is not described");
  for (const auto& operation : described)
    if (!served.contains(operation)) gaps.push_back(operation + " is described but not served");
  return gaps;
}

DocsController::DocsController(const std::string& version,
                               const std::vector<std::string>& strategies)
    : document_(documentWith(version, strategies), contentTypeOf("openapi.json")) {}

void DocsController::publish(RoutePublisher& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = "/openapi.json", .access = kAnyone},
             parseNothing, &DocsController::show);
}

drogon::Task<drogon::HttpResponsePtr> DocsController::show(const Call<NoInput>& call) const {
  co_return document_.answer(*call.request, Caching::kAskAgain);
}

void DocsController::verify(const RouteTable& routes, bool lab) {
  std::string text;
  for (const auto& gap :
       openApiGaps(routes, parseJsonObject(contentOf(docsFiles(), "openapi.json")), lab))
    text += (text.empty() ? "" : "; ") + gap;
  if (!text.empty()) throw std::logic_error("openapi.json does not fit this program: " + text);
}

}  // namespace festa
