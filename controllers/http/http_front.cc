#include "controllers/http/http_front.h"

#include "controllers/errors/problem.h"
#include "controllers/http/asked.h"
#include "controllers/http/representation.h"
#include "controllers/http/request_context.h"

#include <algorithm>
#include <optional>
#include <random>

namespace festa {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

constexpr const char* kAllowedHeaders =
    "Authorization, Content-Type, festival, Idempotency-Key, If-None-Match, Accept-Language, "
    "X-Request-Id";
constexpr const char* kExposedHeaders = "ETag, Link, Location, Retry-After, X-Request-Id";
// Also those that a path does not have, so that a client can read the 405.
constexpr const char* kAllowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";

constexpr std::size_t kMaxPath = 1024;
constexpr std::string_view kHealth = "/healthz";
constexpr std::string_view kMetrics = "/metrics";

bool isSane(const std::string& id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::string newRequestId() {
  static constexpr char kHex[] = "0123456789abcdef";
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::string id;
  for (int half = 0; half < 2; ++half)
    for (auto bits = random(), digits = std::uint64_t{16}; digits > 0; --digits, bits >>= 4)
      id += kHex[bits & 15];
  return id;
}

bool isStream(const HttpResponsePtr& response) {
  return response->contentTypeString().starts_with("text/event-stream");
}

bool isForOperators(const std::string& path) {
  return path == kHealth || path == "/readyz" || path == kMetrics;
}

bool isPreflight(const HttpRequestPtr& request) {
  return request->method() == drogon::Options &&
         !request->getHeader("access-control-request-method").empty();
}

// `allow`: the methods of the path; "" when there is no such path.
HttpResponsePtr options(const std::string& allow) {
  auto response = drogon::HttpResponse::newHttpResponse(drogon::k204NoContent, drogon::CT_NONE);
  if (!allow.empty()) response->addHeader("Allow", allow);
  return response;
}

// The length of the body that the headers announce, or 0. Drogon has checked that it is a number.
std::size_t declaredLength(const HttpRequestPtr& request) {
  const auto& text = request->getHeader("content-length");
  return text.empty() ? 0 : std::stoull(text);
}

bool answersToken(const RouteTable::Match& route) {
  return route.result == RouteTable::Result::kFound && route.route->spec().answersToken;
}

ServiceError pathTooLong() {
  const auto limit = std::to_string(kMaxPath);
  return invalidParameter(inPath("path"), limit + "바이트 이하여야 합니다.",
                          "must be at most " + limit + " bytes long");
}

HttpResponsePtr methodNotAllowed(const HttpRequestPtr& request, const std::string& allow) {
  auto response = problem(request, ServiceError(ErrorCode::kMethodNotAllowed));
  response->addHeader("Allow", allow);
  return response;
}

}  // namespace

HttpFront::HttpFront(HttpFrontSettings settings, const RouteTable& routes,
                     const CallerCheck& callers, RequestObserver& observer,
                     std::shared_ptr<Drain> drain, const StaticFile& missingPage)
    : settings_(std::move(settings)),
      routes_(routes),
      callers_(callers),
      observer_(observer),
      drain_(std::move(drain)),
      missingPage_(missingPage) {}

void HttpFront::install() {
  auto& app = drogon::app();
  // Drogon may refuse before any advice is asked.
  app.setCustomErrorHandler([this](drogon::HttpStatusCode status, const HttpRequestPtr& request) {
    open(request);
    return refusalOf(request, status);
  });
  app.registerPreBodyAdvice(
      [this](const HttpRequestPtr& request) { return checkHeaders(request); });
  app.registerPreRoutingAdvice(
      [this](const HttpRequestPtr& request, drogon::AdviceCallback&& answer,
             drogon::AdviceChainCallback&&) { serve(request, std::move(answer)); });
  app.registerPreSendingAdvice(
      [this](const HttpRequestPtr& request, const HttpResponsePtr& response) {
        finish(request, response);
      });
}

std::string HttpFront::stripPrefix(const HttpRequestPtr& request) const {
  const auto& prefix = settings_.apiPrefix;
  const auto& path = request->path();
  const bool hasIt = !prefix.empty() && path.starts_with(prefix) &&
                     (path.size() == prefix.size() || path[prefix.size()] == '/');
  if (!hasIt) return "";
  request->setPath(path.size() == prefix.size() ? "/" : path.substr(prefix.size()));
  return prefix;
}

bool HttpFront::isServedHere(const HttpRequestPtr& request) const {
  if (settings_.metricsPort == 0) return true;
  const auto& path = request->path();
  const bool isMetricsPort = request->localAddr().toPort() == settings_.metricsPort;
  return isMetricsPort ? path == kMetrics || path == kHealth : path != kMetrics;
}

void HttpFront::open(const HttpRequestPtr& request) const {
  if (findContext(request) != nullptr) return;
  const auto& wished = request->getHeader("x-request-id");
  auto& context = attachContext(request);
  context.requestId = isSane(wished) ? wished : newRequestId();
  context.pathPrefix = stripPrefix(request);
  if (request->path().size() <= kMaxPath)
    context.match = routes_.match(request->methodString(), request->path());
}

HttpResponsePtr HttpFront::checkHeaders(const HttpRequestPtr& request) const {
  open(request);
  if (isPreflight(request)) return nullptr;
  if (auto refusal = refuse(request)) return refusal;
  if (declaredLength(request) > settings_.maxBodyBytes)
    return problem(request, ServiceError(ErrorCode::kBodyTooLarge));
  auto& context = contextOf(request);
  if (context.match.result != RouteTable::Result::kFound) return nullptr;
  try {
    callers_.identify(context.match.route->spec(), request, context);
  } catch (const ServiceError& error) {
    return problem(request, error);
  }
  return nullptr;
}

drogon::AsyncTask HttpFront::serve(HttpRequestPtr request, drogon::AdviceCallback answer) const {
  HttpResponsePtr response;
  std::exception_ptr failure;
  try {
    response = answerWithoutRoute(request);
    if (!response) response = co_await contextOf(request).match.route->answer(request);
  } catch (...) {
    failure = std::current_exception();
  }
  answer(failure ? toResponse(request, failure) : response);
}

HttpResponsePtr HttpFront::answerWithoutRoute(const HttpRequestPtr& request) const {
  open(request);
  contextOf(request).inFlight.emplace(drain_, request->getConnectionPtr());
  // Not in open(): a request does not know its port before it has been read to its end.
  if (!isServedHere(request)) contextOf(request).match = {};
  if (drain_->isRefusing()) contextOf(request).inFlight->refuse();
  // On every path and at all times: a browser shows a refused preflight as a CORS error
  // and hides the reason, which the answer to the request itself would show.
  if (isPreflight(request)) return preflight(request);
  if (auto refusal = refuse(request)) return refusal;
  if (request->method() == drogon::Options) return options(contextOf(request).match.allow);
  if (request->body().size() > settings_.maxBodyBytes)
    return problem(request, ServiceError(ErrorCode::kBodyTooLarge));
  // Drogon would route an upgrade past our handlers, and there is nothing to upgrade to.
  if (!request->getHeader("upgrade").empty())
    return problem(request, invalidParameter(inHeader("Upgrade"), "지원하지 않습니다.",
                                             "is not supported by any path"));
  return nullptr;
}

HttpResponsePtr HttpFront::refuse(const HttpRequestPtr& request) const {
  const auto& route = contextOf(request).match;
  if (drain_->isRefusing()) return problem(request, ServiceError(ErrorCode::kShuttingDown));
  if (drain_->inFlight() > settings_.maxRequests && !isForOperators(request->path()))
    return problem(request, ServiceError(ErrorCode::kOverloaded));
  if (request->path().size() > kMaxPath) return problem(request, pathTooLong());
  if (route.result == RouteTable::Result::kNotFound) return notFound(request);
  if (route.result == RouteTable::Result::kMethodNotAllowed && request->method() != drogon::Options)
    return methodNotAllowed(request, route.allow);
  return nullptr;
}

HttpResponsePtr HttpFront::notFound(const HttpRequestPtr& request) const {
  // Nothing with the prefix is a page.
  const bool isForPeople = contextOf(request).pathPrefix.empty() && wantsPage(*request);
  return isForPeople ? missingPage_.missing(*request)
                     : problem(request, ServiceError(ErrorCode::kRouteNotFound));
}

HttpResponsePtr HttpFront::preflight(const HttpRequestPtr& request) const {
  auto response = options(contextOf(request).match.allow);
  response->addHeader("Access-Control-Allow-Methods", kAllowedMethods);
  response->addHeader("Access-Control-Allow-Headers", kAllowedHeaders);
  response->addHeader("Access-Control-Max-Age", "3600");
  return response;
}

void HttpFront::addCorsHeaders(const HttpRequestPtr& request,
                               const HttpResponsePtr& response) const {
  const auto& origin = request->getHeader("origin");
  if (origin.empty() || settings_.corsOrigins.empty()) return;
  const auto& allowed = settings_.corsOrigins;
  const bool any = std::find(allowed.begin(), allowed.end(), "*") != allowed.end();
  const std::string vary = response->getHeader("vary");
  response->addHeader("Vary", vary.empty() ? "Origin" : vary + ", Origin");
  if (!any && std::find(allowed.begin(), allowed.end(), origin) == allowed.end()) return;
  response->addHeader("Access-Control-Allow-Origin", any ? "*" : origin);
  response->addHeader("Access-Control-Expose-Headers", kExposedHeaders);
}

void HttpFront::finish(const HttpRequestPtr& request, const HttpResponsePtr& response) const {
  response->addHeader("X-Content-Type-Options", "nosniff");
  // Drogon answers by itself what it cannot read, and OPTIONS *.
  open(request);
  auto& context = contextOf(request);
  if (context.inFlight) context.inFlight->answer();
  response->addHeader("X-Request-Id", context.requestId);
  if (answersToken(context.match)) response->addHeader("Cache-Control", "no-store");
  const auto& location = response->getHeader("location");
  if (location.starts_with('/')) response->addHeader("Location", context.pathPrefix + location);
  addCorsHeaders(request, response);
  // Drogon ends the connection of what would have become a WebSocket.
  if (!request->getHeader("upgrade").empty()) response->setCloseConnection(true);
  // Drogon ends the connection with its last answer, behind those to all requests that were read
  // (drogon-http-stop.patch). A stream would lose its events; streams are ended when requests are
  // refused.
  if (drain_->stage() != Drain::Stage::kServing && !isStream(response)) {
    response->setCloseConnection(true);
    drain_->watch(request->getConnectionPtr(), Drain::Peer::kCloses);
  }
  tell(request, response);
}

void HttpFront::tell(const HttpRequestPtr& request, const HttpResponsePtr& response) const {
  const auto& context = contextOf(request);
  const auto& match = context.match;
  const bool isKnown = match.result == RouteTable::Result::kFound;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - context.started;
  observer_.answered({.id = context.requestId,
                      .method = request->methodString(),
                      .route = isKnown ? match.route->spec().path : "",
                      .status = response->statusCode(),
                      .seconds = taken.count()});
}

}  // namespace festa
