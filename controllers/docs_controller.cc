#include "controllers/docs_controller.h"

#include "controllers/embedded_files.h"
#include "controllers/etag.h"
#include "controllers/json_body.h"
#include "controllers/openapi_gaps.h"
#include "controllers/responses.h"

#include <algorithm>
#include <stdexcept>

namespace festa {

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

EmbeddedPage::EmbeddedPage(std::string path, const std::string& file, std::string contentType)
    : path_(std::move(path)),
      contentType_(std::move(contentType)),
      content_(contentOf(file)),
      etag_(etagOf(content_)) {}

void EmbeddedPage::publish(Routes& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = path_, .access = kAnyone}, parseNothing,
             &EmbeddedPage::show);
}

drogon::Task<HttpResponsePtr> EmbeddedPage::show(const Call<NoInput>& call) const {
  const bool isKnown = namesEtag(call.request->getHeader("if-none-match"), etag_);
  auto response = emptyResponse(isKnown ? drogon::k304NotModified : drogon::k200OK);
  if (!isKnown) {
    response->setContentTypeString(contentType_);
    response->setBody(std::string(content_));
  }
  response->addHeader("ETag", etag_);
  response->addHeader("Cache-Control", "no-cache");
  response->addHeader("Content-Security-Policy", kContentSecurityPolicy);
  co_return response;
}

DocsController::DocsController()
    : pages_{{"/openapi.json", "openapi.json", "application/json; charset=utf-8"},
             {"/docs", "docs.html", "text/html; charset=utf-8"},
             {"/docs/docs.js", "docs.js", "text/javascript; charset=utf-8"},
             {"/docs/docs.css", "docs.css", "text/css; charset=utf-8"}} {}

void DocsController::publish(Routes& routes) const {
  for (const auto& page : pages_) page.publish(routes);
}

void DocsController::verify(const RouteTable& routes) {
  std::string text;
  for (const auto& gap : openApiGaps(routes, parseJsonObject(contentOf("openapi.json"))))
    text += (text.empty() ? "" : "; ") + gap;
  if (!text.empty()) throw std::logic_error("openapi.json does not fit this program: " + text);
}

}  // namespace festa
