// Where requests come in and answers go out.
#pragma once

#include "app/operations/metrics.h"
#include "controllers/http/caller_check.h"
#include "controllers/http/drain.h"
#include "controllers/http/route_table.h"
#include "controllers/pages/missing_page.h"

#include <drogon/HttpAppFramework.h>

#include <memory>
#include <string>
#include <vector>

namespace festa {

struct EdgeSettings {
  std::size_t maxBodyBytes;
  std::vector<std::string> corsOrigins;  // "*": any
  std::int64_t maxRequests;              // in flight; operators' questions are answered beyond it
  std::string apiPrefix;                 // "/api": ignored at the start of a path; "": none
  // The port that has /metrics and /healthz and nothing else, while /metrics is nowhere else; 0:
  // all is at one port.
  std::uint16_t metricsPort;
};

// Request ids, the path's prefix, the route, draining, bounds of requests and bodies, CORS, unknown
// routes and methods; then the route's endpoint; then headers of every answer, access log and
// request metrics.
class Edge {
 public:
  // All of them outlive the edge.
  Edge(EdgeSettings settings, const RouteTable& routes, const CallerCheck& callers,
       Metrics& metrics, std::shared_ptr<Drain> drain, const MissingPage& missing);

  // Hooks itself into Drogon; must outlive the application's run.
  void install();

 private:
  // Gives the request its id and finds its route, once.
  void open(const drogon::HttpRequestPtr& request) const;
  // Before its body is read: an answer, after which the connection is closed, or nullptr.
  drogon::HttpResponsePtr checkHeaders(const drogon::HttpRequestPtr& request) const;
  // When it has been read: its answer. Drogon's own routes are never asked.
  drogon::AsyncTask serve(drogon::HttpRequestPtr request, drogon::AdviceCallback answer) const;
  // The answer to a request that its route does not get: a refusal or a preflight; else nullptr.
  drogon::HttpResponsePtr answerWithoutRoute(const drogon::HttpRequestPtr& request) const;
  // Whether this path is served at the port at which the request came; for requests that have been
  // read to their end.
  bool isServedHere(const drogon::HttpRequestPtr& request) const;
  // What was taken off the request's path; "" when nothing.
  std::string stripPrefix(const drogon::HttpRequestPtr& request) const;
  // Refuses what is not to be served at the moment; nullptr: go on.
  drogon::HttpResponsePtr refuse(const drogon::HttpRequestPtr& request) const;
  drogon::HttpResponsePtr notFound(const drogon::HttpRequestPtr& request) const;
  drogon::HttpResponsePtr preflight(const drogon::HttpRequestPtr& request) const;
  void logAndCount(const drogon::HttpRequestPtr& request,
                   const drogon::HttpResponsePtr& response) const;
  void finish(const drogon::HttpRequestPtr& request, const drogon::HttpResponsePtr& response) const;
  void addCorsHeaders(const drogon::HttpRequestPtr& request,
                      const drogon::HttpResponsePtr& response) const;

  const EdgeSettings settings_;
  const RouteTable& routes_;
  const CallerCheck& callers_;
  Metrics& metrics_;
  const std::shared_ptr<Drain> drain_;
  const MissingPage& missing_;
};

}  // namespace festa
