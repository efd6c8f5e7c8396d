#include "controllers/endpoints.h"

#include "controllers/json_body.h"

#include <drogon/HttpAppFramework.h>

#include <algorithm>
#include <set>

namespace festa {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

// The token of an Authorization header; nullopt for another scheme. The scheme's case does not
// matter (RFC 9110, 11.1).
std::optional<std::string> bearerToken(const std::string& header) {
  const auto space = std::min(header.find(' '), header.size());
  std::string scheme = header.substr(0, space);
  for (auto& c : scheme) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (scheme != "bearer") return std::nullopt;
  return header.substr(std::min(header.find_first_not_of(' ', space), header.size()));
}

bool isAuthenticatedWrite(const Endpoint& endpoint) {
  return !endpoint.access.empty() && endpoint.method != drogon::Get;
}

// Limits, authentication, role, parsing: everything that can refuse a request without looking at
// the database.
class EndpointGate : public drogon::HttpCoroMiddleware<EndpointGate, false> {
 public:
  EndpointGate(std::string name, Endpoint endpoint, std::shared_ptr<const HeaderCheck> headers,
               std::shared_ptr<const Admission> admission)
      : name_(std::move(name)),
        endpoint_(std::move(endpoint)),
        headers_(std::move(headers)),
        admission_(std::move(admission)) {}

  const std::string& className() const override { return name_; }

  drogon::Task<HttpResponsePtr> invoke(const HttpRequestPtr& request,
                                       drogon::MiddlewareNextAwaiter&& next) override {
    auto& context = contextOf(request);
    context.mustNotBeStored = endpoint_.answersToken;
    if (endpoint_.checksPassword) admission_->admitPassword(request);
    headers_->identify(request, context);
    // An ended token must not use up what its owner may do.
    if (isAuthenticatedWrite(endpoint_) && !context.mayOnlyRepeat) admitCaller(*context.caller);
    if (endpoint_.takesBody) context.body = parseJsonBody(*request, endpoint_.maxBodyMembers);
    if (endpoint_.parse) context.input = endpoint_.parse(request, context);
    const HttpResponsePtr response = co_await next;
    if (endpoint_.afterEffect && !hadNoEffect(response)) endpoint_.afterEffect(request);
    co_return response;
  }

 private:
  void admitCaller(const Caller& caller) const {
    if (endpoint_.checksPassword) admission_->admitPassword(caller);
    admission_->admitWrite(caller);
  }

  const std::string name_;
  const Endpoint endpoint_;
  const std::shared_ptr<const HeaderCheck> headers_;
  const std::shared_ptr<const Admission> admission_;
};

// What may answer a request without its lock.
class BeforeLock : public drogon::HttpCoroMiddleware<BeforeLock, false> {
 public:
  using Look = std::function<std::optional<ErrorCode>(const HttpRequestPtr&)>;

  BeforeLock(std::string name, Look look, Refusal refuse)
      : name_(std::move(name)), look_(std::move(look)), refuse_(std::move(refuse)) {}

  const std::string& className() const override { return name_; }

  drogon::Task<HttpResponsePtr> invoke(const HttpRequestPtr& request,
                                       drogon::MiddlewareNextAwaiter&& next) override {
    const auto error = look_(request);
    if (error) co_return refuse_(request, ServiceError(*error));
    co_return co_await next;
  }

 private:
  const std::string name_;
  const Look look_;
  const Refusal refuse_;
};

std::string methodName(drogon::HttpMethod method) {
  switch (method) {
    case drogon::Get: return "GET";
    case drogon::Post: return "POST";
    case drogon::Patch: return "PATCH";
    case drogon::Delete: return "DELETE";
    default: throw std::logic_error("no endpoint uses this method");
  }
}

std::vector<std::string> parameterNames(const std::string& path) {
  std::vector<std::string> names;
  for (auto open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1))
    names.push_back(path.substr(open + 1, path.find('}', open) - open - 1));
  return names;
}

std::set<std::string> keyVariables(const Endpoint& endpoint) {
  std::set<std::string> variables;
  for (const auto& name : parameterNames(endpoint.path)) variables.insert("path." + name);
  for (const auto& field : endpoint.lockBodyFields) variables.insert("body." + field);
  if (!endpoint.access.empty()) variables.insert({"token.uid", "token.festivalId"});
  return variables;
}

// Drogon wants one handler argument per path parameter; ours are in the context.
template <class... Parameters>
void registerHandlerTaking(const Endpoint& endpoint,
                           const std::vector<drogon::internal::HttpConstraint>& constraints) {
  std::function<drogon::Task<HttpResponsePtr>(HttpRequestPtr, Parameters...)> handler =
      [handle = endpoint.handle](HttpRequestPtr request, const Parameters&...) {
        return handle(std::move(request));
      };
  drogon::app().registerHandler(endpoint.path, std::move(handler), constraints);
}

void registerHandler(const Endpoint& endpoint,
                     const std::vector<drogon::internal::HttpConstraint>& constraints) {
  switch (parameterNames(endpoint.path).size()) {
    case 0: return registerHandlerTaking<>(endpoint, constraints);
    case 1: return registerHandlerTaking<std::string>(endpoint, constraints);
    case 2: return registerHandlerTaking<std::string, std::string>(endpoint, constraints);
    default: throw std::logic_error("no endpoint has so many path parameters");
  }
}

}  // namespace

void HeaderCheck::identify(const HttpRequestPtr& request, RequestContext& context) const {
  if (access_.empty()) return;
  if (!context.caller) context.caller = authenticate(request);
  // Asked again when the body is there: that may have taken long.
  context.mayOnlyRepeat = !passwords_.isCurrent(*context.caller);
  if (context.mayOnlyRepeat && !mayBeRepetition(request))
    throw ServiceError(ErrorCode::kUnauthenticated, kEndedToken);
  const bool allowed = std::any_of(access_.begin(), access_.end(), [&](const std::string& role) {
    return context.caller->hasRole(role);
  });
  if (!allowed) throw ServiceError(ErrorCode::kForbidden);
}

Caller HeaderCheck::authenticate(const HttpRequestPtr& request) const {
  const auto token = bearerToken(request->getHeader("authorization"));
  if (!token) throw ServiceError(ErrorCode::kUnauthenticated, "no bearer token");
  auto caller = tokens_->verify(*token);
  if (!caller) throw ServiceError(ErrorCode::kUnauthenticated, "bad token");
  return std::move(*caller);
}

// A client that did not get the answer to its change of password asks again with the token that
// the change has ended.
bool HeaderCheck::mayBeRepetition(const HttpRequestPtr& request) const {
  return endsTokens_ && !request->getHeader("idempotency-key").empty();
}

void Endpoints::checkHeaders(const HttpRequestPtr& request) const {
  auto& context = contextOf(request);
  const auto found = headerChecks_.find(request->methodString() + (' ' + context.route.pattern));
  if (found != headerChecks_.end()) found->second->identify(request, context);
}

Endpoints::Endpoints(std::shared_ptr<const TokenService> tokens, const PasswordVersions& passwords,
                     std::shared_ptr<const IdempotencyService> idempotency,
                     std::shared_ptr<const Admission> admission,
                     lock::LockMiddlewareContext lockContext,
                     std::function<lock::Lockable(lock::Lockable)> configureLock, Refusal refuse)
    : tokens_(std::move(tokens)),
      passwords_(passwords),
      idempotency_(std::make_shared<IdempotencyMiddleware>(std::move(idempotency))),
      admission_(std::move(admission)),
      refuse_(std::move(refuse)),
      lockContext_(std::move(lockContext)),
      configureLock_(std::move(configureLock)) {
  drogon::app().registerMiddleware(idempotency_);
}

std::string Endpoints::addGate(const Endpoint& endpoint, const std::string& route) {
  std::string name = "gate:" + route;
  const auto headers = std::make_shared<const HeaderCheck>(endpoint, tokens_, passwords_);
  headerChecks_[route] = headers;
  drogon::app().registerMiddleware(
      std::make_shared<EndpointGate>(name, endpoint, headers, admission_));
  return name;
}

std::string Endpoints::addBefore(const Endpoint& endpoint, const std::string& route) const {
  std::string name = "before:" + route;
  drogon::app().registerMiddleware(std::make_shared<BeforeLock>(name, endpoint.before, refuse_));
  return name;
}

std::string Endpoints::addLock(const Endpoint& endpoint) {
  // Made for every endpoint, because each must have the key's variables; endpoints of one Lockable
  // share the first.
  auto middleware = std::make_shared<lock::LockMiddleware>(configureLock_(*endpoint.lock),
                                                           keyVariables(endpoint), lockContext_);
  if (locks_.insert(middleware->className()).second) drogon::app().registerMiddleware(middleware);
  return middleware->className();
}

void Endpoints::add(Endpoint endpoint) {
  const auto route = methodName(endpoint.method) + ' ' + endpoint.path;
  routes_->add(methodName(endpoint.method), endpoint.path);
  std::vector<std::string> middlewares{addGate(endpoint, route)};
  if (isAuthenticatedWrite(endpoint)) middlewares.push_back(idempotency_->className());
  if (endpoint.before) middlewares.push_back(addBefore(endpoint, route));
  if (endpoint.lock != nullptr) middlewares.push_back(addLock(endpoint));

  std::vector<drogon::internal::HttpConstraint> constraints{endpoint.method};
  for (const auto& middleware : middlewares) {
    guarded_.expect(route, middleware);
    constraints.emplace_back(middleware);
  }
  registerHandler(endpoint, constraints);
}

}  // namespace festa
