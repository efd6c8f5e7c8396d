// Routes: what a controller declares of one, what answers it, and how a request finds it.
#pragma once

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>
#include <drogon/HttpTypes.h>
#include <drogon/utils/coroutine.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace festa {

// Roles of which a caller needs one; empty: anyone may call.
using Access = std::vector<std::string>;
inline const Access kAnyone = {};
inline const Access kAdmins = {"ROLE_ADMIN"};
inline const Access kCouncils = {"ROLE_COUNCIL", "ROLE_ADMIN"};
inline const Access kUsers = {"ROLE_USER"};
inline const Access kUsersAndAdmins = {"ROLE_USER", "ROLE_ADMIN"};

// Which words of paging a list takes. It refuses the others: a client that sends them and always
// gets the same answer would read the same page for ever.
enum class Paged {
  kNoList,   // no list; such words mean nothing, like all that is unknown
  kWhole,    // none: the answer is all of it
  kByAfter,  // after
  kByPage,   // page, perPage, after
};

// What a controller declares of a route.
struct RouteSpec {
  drogon::HttpMethod method;
  std::string path;  // literal segments and {name} segments
  Access access;
  bool takesBody = false;
  bool takesList = false;             // its body is a list rather than an object
  std::size_t maxBodyMembers = 1000;  // members of all objects in its body
  bool checksPassword = false;        // or makes one: costs much, and may be guessed
  bool endsTokens = false;            // its success ends the caller's token
  bool answersToken = false;          // its answers must not be stored
  bool isEnveloped = false;  // its clients know the result from an envelope, see envelope.h
  Paged paged = Paged::kNoList;

  bool isAuthenticatedWrite() const { return !access.empty() && method != drogon::Get; }
};

// What answers the requests of one method and path. Thread-safe; lives as long as the table.
class Route {
 public:
  explicit Route(RouteSpec spec) : spec_(std::move(spec)) {}
  virtual ~Route() = default;
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;

  const RouteSpec& spec() const { return spec_; }

  // The answer to a request that has been read to its end and has found this route. Throws
  // ServiceError when the request is refused.
  virtual drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const = 0;

 private:
  const RouteSpec spec_;
};

// Owns the routes. Filled at start, then read-only and thread-safe.
class RouteTable {
 public:
  using Parameters = std::map<std::string, std::string>;
  enum class Result { kFound, kMethodNotAllowed, kNotFound };
  struct Match {
    Result result = Result::kNotFound;
    const Route* route = nullptr;  // kMethodNotAllowed: one of the path's; kNotFound: null
    Parameters parameters = {};    // raw path segments by name
    std::string allow = {};        // methods of this path, comma separated

    bool isEnveloped() const { return route != nullptr && route->spec().isEnveloped; }
  };

  void add(std::unique_ptr<Route> route);

  // The route of this method and pattern, for one that is put in front of it. Throws
  // std::logic_error when there is none.
  std::unique_ptr<Route>& at(drogon::HttpMethod method, const std::string& pattern);

  Match match(std::string_view method, std::string_view path) const;
  // Path by path, in the order in which the paths were added.
  std::vector<const Route*> all() const;

 private:
  struct Path {
    std::string pattern;
    std::vector<std::string> segments;
    std::vector<std::pair<std::string, std::unique_ptr<Route>>> routes;  // with their methods
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
