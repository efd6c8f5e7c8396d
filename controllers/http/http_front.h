// Where requests come in and answers go out.
#pragma once

#include "controllers/http/caller_check.h"
#include "controllers/http/drain.h"
#include "controllers/http/route_table.h"
#include "controllers/pages/static_file.h"

#include <drogon/HttpAppFramework.h>

#include <memory>
#include <string>
#include <vector>

namespace festa {

struct HttpFrontSettings {
  std::size_t maxBodyBytes;
  std::vector<std::string> corsOrigins;  // "*": any
  std::int64_t maxRequests;              // in flight; operators' questions are answered beyond it
  std::string apiPrefix;                 // "/api": ignored at the start of a path; "": none
  // The port that has /metrics and /healthz and nothing else, while /metrics is nowhere else; 0:
  // all is at one port.
  std::uint16_t metricsPort;
};

// A request and its answer, for metrics and the access log.
struct AnsweredRequest {
  const std::string& id;
  std::string method;  // as it was sent
  std::string route;   // the path that the route was declared with; "" when there is no such route
  int status;
  double seconds;  // until its answer was handed to the connection
};

// Thread-safe; outlives the front.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;

  // Called on the request's loop for every answer, before it is sent. Must not throw.
  virtual void answered(const AnsweredRequest& request) = 0;
};

// Request ids, the path's prefix, the route, draining, bounds of requests and bodies, CORS, unknown
// routes and methods; then the route's answer; then headers of every answer, of which the
// observer is told.
class HttpFront {
 public:
  // All of them outlive the front.
  HttpFront(HttpFrontSettings settings, const RouteTable& routes, const CallerCheck& callers,
            RequestObserver& observer, std::shared_ptr<Drain> drain, const StaticFile& missingPage);

  // Hooks itself into Drogon; must outlive the application's run.
  void install();

 private:
  // Gives the request its id and finds its route, once.
  void open(const drogon::HttpRequestPtr& request) const;
  // Called before a body that is still to come is read. Returns nullptr to go on, or the answer
  // after which the connection is closed.
  drogon::HttpResponsePtr checkHeaders(const drogon::HttpRequestPtr& request) const;
  // Called when the request has been read. Drogon's own routes are never asked.
  drogon::AsyncTask serve(drogon::HttpRequestPtr request, drogon::AdviceCallback answer) const;
  // Returns the answer to a request that its route does not get, a refusal or a preflight, or
  // nullptr.
  drogon::HttpResponsePtr answerWithoutRoute(const drogon::HttpRequestPtr& request) const;
  // Whether this path is served at the port at which the request came; for requests that have been
  // read to their end.
  bool isServedHere(const drogon::HttpRequestPtr& request) const;
  // Returns what was taken off the request's path, perhaps "".
  std::string stripPrefix(const drogon::HttpRequestPtr& request) const;
  // Refuses what is not to be served at the moment. Returns nullptr to go on.
  drogon::HttpResponsePtr refuse(const drogon::HttpRequestPtr& request) const;
  drogon::HttpResponsePtr notFound(const drogon::HttpRequestPtr& request) const;
  drogon::HttpResponsePtr preflight(const drogon::HttpRequestPtr& request) const;
  void tell(const drogon::HttpRequestPtr& request, const drogon::HttpResponsePtr& response) const;
  void finish(const drogon::HttpRequestPtr& request, const drogon::HttpResponsePtr& response) const;
  void addCorsHeaders(const drogon::HttpRequestPtr& request,
                      const drogon::HttpResponsePtr& response) const;

  const HttpFrontSettings settings_;
  const RouteTable& routes_;
  const CallerCheck& callers_;
  RequestObserver& observer_;
  const std::shared_ptr<Drain> drain_;
  const StaticFile& missingPage_;
};

}  // namespace festa
