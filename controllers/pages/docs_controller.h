// The OpenAPI document.
#pragma once

#include "controllers/pages/embedded_page.h"

#include <string>
#include <vector>

namespace festa {

// GET /openapi.json. Outlives the route it publishes.
class DocsController {
 public:
  // The document has the version of this program, and names `strategies` as the values of
  // X-Concurrency.
  DocsController(const std::string& version, const std::vector<std::string>& strategies);

  void publish(RoutePublisher& routes) const;

  // Throws std::logic_error naming the routes that the document lacks, and its operations that are
  // no routes. Those marked `x-lab` are routes in the lab only.
  static void verify(const RouteTable& routes, bool lab);

 private:
  const EmbeddedPage document_;
};

}  // namespace festa
