#include "controllers/pages/docs_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/pages/embedded_files.h"
#include "controllers/pages/openapi_gaps.h"

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

}  // namespace

DocsController::DocsController(const std::string& version,
                               const std::vector<std::string>& strategies)
    : document_("/openapi.json", documentWith(version, strategies), contentTypeOf("openapi.json")) {
}

void DocsController::publish(RoutePublisher& routes) const {
  document_.publish(routes);
}

void DocsController::verify(const RouteTable& routes, bool lab) {
  std::string text;
  for (const auto& gap :
       openApiGaps(routes, parseJsonObject(contentOf(docsFiles(), "openapi.json")), lab))
    text += (text.empty() ? "" : "; ") + gap;
  if (!text.empty()) throw std::logic_error("openapi.json does not fit this program: " + text);
}

}  // namespace festa
