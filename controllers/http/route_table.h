// Which paths exist, with which methods.
#pragma once

#include "controllers/http/route.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace festa {

// Owns the endpoints. Filled at start, then read-only and thread-safe.
class RouteTable {
 public:
  using Parameters = std::map<std::string, std::string>;
  enum class Result { kFound, kMethodNotAllowed, kNotFound };
  struct Match {
    Result result = Result::kNotFound;
    const Endpoint* endpoint = nullptr;  // kMethodNotAllowed: one of the path's; kNotFound: null
    Parameters parameters = {};          // raw path segments by name
    std::string allow = {};              // methods of this path, comma separated

    bool isEnveloped() const { return endpoint != nullptr && endpoint->head().isEnveloped; }
  };

  struct Route {
    std::string method;
    std::string pattern;
  };

  void add(std::unique_ptr<Endpoint> endpoint);

  // The endpoint of this method and pattern, for one that is put in front of it. Throws
  // std::logic_error when there is none.
  std::unique_ptr<Endpoint>& endpointOf(std::string_view method, const std::string& pattern);

  Match match(std::string_view method, std::string_view path) const;
  std::vector<Route> all() const;

 private:
  struct Path {
    std::string pattern;
    std::vector<std::string> segments;
    std::vector<std::pair<std::string, std::unique_ptr<Endpoint>>> endpoints;  // with their methods
    std::string allow;
  };
  static std::vector<std::string> split(std::string_view path);
  static bool fits(const Path& path, const std::vector<std::string>& segments,
                   Parameters& parameters);

  std::vector<Path> paths_;
};

// As in a request line. Throws std::logic_error for methods that no route uses.
std::string methodName(drogon::HttpMethod method);

// The names of its {name} segments.
std::vector<std::string> parameterNames(const std::string& path);

}  // namespace festa
