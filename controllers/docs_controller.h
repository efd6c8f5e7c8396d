// The OpenAPI document, and a page that shows it.
#pragma once

#include "controllers/endpoints.h"

#include <string>
#include <string_view>
#include <vector>

namespace festa {

// GET /openapi.json, /docs and what the page loads, all from files compiled into the program.
class DocsController {
 public:
  DocsController();

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

  // Throws std::logic_error naming the routes that the document lacks, and its operations that are
  // no routes.
  static void verify(const RouteTable& routes);

 private:
  struct Page {
    std::string path;
    std::string contentType;
    std::string_view content;
    std::string etag;
  };

  static Page pageOf(const std::string& path, const std::string& file,
                     const std::string& contentType);
  static drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request,
                                                    const Page& page);

  const std::vector<Page> pages_;
};

}  // namespace festa
