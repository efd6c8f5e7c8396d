#include "controllers/route_table.h"

#include <algorithm>

namespace festa {

namespace {

bool isParameter(const std::string& segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

std::string joined(const std::vector<std::string>& methods) {
  std::string text;
  for (const auto& method : methods) text += (text.empty() ? "" : ", ") + method;
  return text;
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

void RouteTable::add(const std::string& method, const std::string& pattern) {
  auto found = std::find_if(paths_.begin(), paths_.end(),
                            [&](const Path& p) { return p.pattern == pattern; });
  if (found == paths_.end()) found = paths_.insert(paths_.end(), {pattern, split(pattern), {}});
  found->methods.push_back(method);
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
  std::vector<std::string> allowed;
  for (const auto& candidate : paths_) {
    Parameters parameters;
    if (!fits(candidate, segments, parameters)) continue;
    allowed.insert(allowed.end(), candidate.methods.begin(), candidate.methods.end());
    if (match.result == Result::kFound) continue;
    const bool found = std::find(candidate.methods.begin(), candidate.methods.end(), method) !=
                       candidate.methods.end();
    match.result = found ? Result::kFound : Result::kMethodNotAllowed;
    match.pattern = candidate.pattern;
    match.parameters = std::move(parameters);
  }
  match.allow = joined(allowed);
  return match;
}

std::vector<RouteTable::Route> RouteTable::all() const {
  std::vector<Route> routes;
  for (const auto& path : paths_)
    for (const auto& method : path.methods) routes.push_back({method, path.pattern});
  return routes;
}

}  // namespace festa
