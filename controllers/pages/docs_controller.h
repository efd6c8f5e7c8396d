// The OpenAPI document.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/pages/static_file.h"

#include <json/json.h>

#include <string>
#include <vector>

namespace festa {

// One sentence for each route that the document does not describe, and for each operation of the
// document that is no route. Paths are compared with the names of their parameters. Operations with
// `"x-lab": true` count in the lab only. Empty: both say the same.
std::vector<std::string> openApiGaps(const RouteTable& routes, const Json::Value& document,
                                     bool lab = false);

// GET /openapi.json.
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
  drogon::Task<drogon::HttpResponsePtr> show(const Call<NoInput>& call) const;

  const StaticFile document_;
};

}  // namespace festa
