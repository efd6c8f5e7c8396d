// The OpenAPI document, and a page that shows it.
#pragma once

#include "controllers/routes.h"

#include <string>
#include <string_view>
#include <vector>

namespace festa {

// One file that is compiled into the program. Outlives the route it publishes.
class EmbeddedPage {
 public:
  EmbeddedPage(std::string path, const std::string& file, std::string contentType);

  void publish(Routes& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> show(const Call<NoInput>& call) const;

  const std::string path_;
  const std::string contentType_;
  const std::string_view content_;
  const std::string etag_;
};

// GET /openapi.json, /docs and what the page loads. Outlives the routes it publishes.
class DocsController {
 public:
  DocsController();

  void publish(Routes& routes) const;

  // Throws std::logic_error naming the routes that the document lacks, and its operations that are
  // no routes.
  static void verify(const RouteTable& routes);

 private:
  const std::vector<EmbeddedPage> pages_;
};

}  // namespace festa
