#include "controllers/http/routes.h"

namespace festa {

void Routes::requireKnownCode(const lock::Lockable& lockable) {
  if (!lockable.busyCode.empty() && !errorCodeNamed(lockable.busyCode))
    throw std::logic_error("lock '" + lockable.name + "' names an unknown busyCode");
}

std::set<std::string> Routes::keyVariables(const RouteHead& head,
                                           const std::vector<std::string>& bodyFields) {
  std::set<std::string> variables;
  for (const auto& name : parameterNames(head.path)) variables.insert("path." + name);
  for (const auto& field : bodyFields) variables.insert("body." + field);
  if (!head.access.empty()) variables.insert({"token.uid", "token.festivalId"});
  return variables;
}

}  // namespace festa
