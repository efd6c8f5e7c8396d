#include "controllers/http/route_table.h"

#include <algorithm>
#include <stdexcept>

namespace festa {

namespace {

bool isParameter(const std::string& segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

std::vector<std::string> RouteTable::split(std::string_view path) {
  std::vector<std::string> segments;
  std::size_t start = path.starts_with('/') ? 1 : 0;
  while (true) {
    const auto end = path.find('/', start);
    segments.emplace_back(path.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return segments;
    start = end + 1;
  }
}

void RouteTable::add(std::unique_ptr<Route> route) {
  const auto& pattern = route->spec().path;
  const auto method = methodName(route->spec().method);
  auto found = std::find_if(paths_.begin(), paths_.end(),
                            [&](const Path& path) { return path.pattern == pattern; });
  if (found == paths_.end())
    found = paths_.insert(paths_.end(), Path{pattern, split(pattern), {}, {}});
  found->allow += (found->allow.empty() ? "" : ", ") + method;
  found->routes.emplace_back(method, std::move(route));
}

std::unique_ptr<Route>& RouteTable::at(drogon::HttpMethod method, const std::string& pattern) {
  for (auto& path : paths_)
    for (auto& [name, route] : path.routes)
      if (path.pattern == pattern && name == methodName(method)) return route;
  throw std::logic_error("there is no such route");
}

bool RouteTable::fits(const Path& path, const std::vector<std::string>& segments,
                      Parameters& parameters) {
  if (path.segments.size() != segments.size()) return false;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool fits =
        isParameter(path.segments[i]) ? !segments[i].empty() : path.segments[i] == segments[i];
    if (!fits) return false;
  }
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (isParameter(path.segments[i]))
      parameters[path.segments[i].substr(1, path.segments[i].size() - 2)] = segments[i];
  return true;
}

RouteTable::Match RouteTable::match(std::string_view method, std::string_view path) const {
  const auto segments = split(path);
  Match match;
  for (const auto& candidate : paths_) {
    Parameters parameters;
    if (!fits(candidate, segments, parameters)) continue;
    match.allow += (match.allow.empty() ? "" : ", ") + candidate.allow;
    if (match.result == Result::kFound) continue;
    const auto found = std::find_if(candidate.routes.begin(), candidate.routes.end(),
                                    [method](const auto& one) { return one.first == method; });
    const bool isFound = found != candidate.routes.end();
    match.result = isFound ? Result::kFound : Result::kMethodNotAllowed;
    match.route = (isFound ? found : candidate.routes.begin())->second.get();
    match.parameters = std::move(parameters);
  }
  return match;
}

std::vector<const Route*> RouteTable::all() const {
  std::vector<const Route*> all;
  for (const auto& path : paths_)
    for (const auto& [method, route] : path.routes) all.push_back(route.get());
  return all;
}

std::string methodName(drogon::HttpMethod method) {
  switch (method) {
    case drogon::Get: return "GET";
    case drogon::Post: return "POST";
    case drogon::Patch: return "PATCH";
    case drogon::Delete: return "DELETE";
    default: throw std::logic_error("no route uses this method");
  }
}

std::vector<std::string> parameterNames(const std::string& path) {
  std::vector<std::string> names;
  for (auto open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1))
    names.push_back(path.substr(open + 1, path.find('}', open) - open - 1));
  return names;
}

}  // namespace festa
