// Whether an OpenAPI document describes what is served.
#pragma once

#include "controllers/http/route_table.h"

#include <json/json.h>

#include <string>
#include <vector>

namespace festa {

// One sentence for each route that the document does not describe, and for each operation of the
// document that is no route. Paths are compared with the names of their parameters. Operations with
// `"x-lab": true` count in the lab only. Empty: both say the same.
std::vector<std::string> openApiGaps(const RouteTable& routes, const Json::Value& document,
                                     bool lab = false);

}  // namespace festa
