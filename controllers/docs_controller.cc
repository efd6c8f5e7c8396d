#include "controllers/docs_controller.h"

#include "controllers/embedded_files.h"
#include "controllers/json_body.h"
#include "controllers/json_writer.h"
#include "controllers/openapi_gaps.h"

#include <stdexcept>

namespace festa {

namespace {

// The program knows its strategies; the document has a place for them.
std::string documentWith(const std::vector<std::string>& strategies) {
  static const std::string kPlace = R"("{strategies}")";
  std::string names;
  for (const auto& name : strategies) {
    if (!names.empty()) names += ", ";
    appendQuoted(names, name);
  }
  std::string document(contentOf(docsFiles(), "openapi.json"));
  const auto at = document.find(kPlace);
  if (at == std::string::npos) throw std::logic_error("openapi.json has no " + kPlace);
  return document.replace(at, kPlace.size(), names);
}

}  // namespace

DocsController::DocsController(const std::vector<std::string>& strategies)
    : document_("/openapi.json", documentWith(strategies), contentTypeOf("openapi.json")) {}

void DocsController::publish(Routes& routes) const {
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
