#include "controllers/pages/openapi_gaps.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace festa {

namespace {

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

}  // namespace festa
