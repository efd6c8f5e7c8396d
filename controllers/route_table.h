// Which paths exist, with which methods: Drogon answers a wrong method on a parameterised path with
// 404.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace festa {

// Filled at start, then read-only and thread-safe.
class RouteTable {
 public:
  using Parameters = std::map<std::string, std::string>;
  enum class Result { kFound, kMethodNotAllowed, kNotFound };
  struct Match {
    Result result = Result::kNotFound;
    std::string pattern;    // as registered; empty: not found
    Parameters parameters;  // raw path segments by name
    std::string allow;      // methods of this path, comma separated
  };

  struct Route {
    std::string method;
    std::string pattern;
  };

  // `pattern` is made of literal segments and {name} segments.
  void add(const std::string& method, const std::string& pattern);

  Match match(std::string_view method, std::string_view path) const;
  std::vector<Route> all() const;

 private:
  struct Path {
    std::string pattern;
    std::vector<std::string> segments;
    std::vector<std::string> methods;
  };
  static std::vector<std::string> split(std::string_view path);
  static bool fits(const Path& path, const std::vector<std::string>& segments,
                   Parameters& parameters);

  std::vector<Path> paths_;
};

}  // namespace festa
