#include "controllers/docs_controller.h"

#include "controllers/embedded_files.h"
#include "controllers/etag.h"
#include "controllers/json_body.h"
#include "controllers/openapi_gaps.h"
#include "controllers/responses.h"

#include <algorithm>
#include <stdexcept>

namespace festa {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

namespace {

// The page loads and asks nobody but us, and nobody else's page may hold it.
constexpr const char* kContentSecurityPolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view contentOf(const std::string& name) {
  const auto& files = docsFiles();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const EmbeddedFile& file) { return file.name == name; });
  if (found == files.end()) throw std::logic_error("controllers/docs has no " + name);
  return found->content;
}

}  // namespace

DocsController::DocsController()
    : pages_{pageOf("/openapi.json", "openapi.json", "application/json; charset=utf-8"),
             pageOf("/docs", "docs.html", "text/html; charset=utf-8"),
             pageOf("/docs/docs.js", "docs.js", "text/javascript; charset=utf-8"),
             pageOf("/docs/docs.css", "docs.css", "text/css; charset=utf-8")} {}

DocsController::Page DocsController::pageOf(const std::string& path, const std::string& file,
                                            const std::string& contentType) {
  const auto content = contentOf(file);
  return {path, contentType, content, etagOf(content)};
}

void DocsController::publish(Endpoints& endpoints) const {
  for (const auto& page : pages_)
    endpoints.add(
        {.method = drogon::Get,
         .path = page.path,
         .access = kAnyone,
         .handle = [&page](HttpRequestPtr request) { return show(std::move(request), page); }});
}

void DocsController::verify(const RouteTable& routes) {
  std::string text;
  for (const auto& gap : openApiGaps(routes, parseJsonObject(contentOf("openapi.json"))))
    text += (text.empty() ? "" : "; ") + gap;
  if (!text.empty()) throw std::logic_error("openapi.json does not fit this program: " + text);
}

drogon::Task<HttpResponsePtr> DocsController::show(HttpRequestPtr request, const Page& page) {
  const bool isKnown = namesEtag(request->getHeader("if-none-match"), page.etag);
  auto response = emptyResponse(isKnown ? drogon::k304NotModified : drogon::k200OK);
  if (!isKnown) {
    response->setContentTypeString(page.contentType);
    response->setBody(std::string(page.content));
  }
  response->addHeader("ETag", page.etag);
  response->addHeader("Cache-Control", "no-cache");
  response->addHeader("Content-Security-Policy", kContentSecurityPolicy);
  co_return response;
}

}  // namespace festa
