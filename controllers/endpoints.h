// How controllers publish their endpoints, and the gate that a request passes before any lock is
// taken.
#pragma once

#include "controllers/admission.h"
#include "controllers/idempotency.h"
#include "controllers/request_context.h"
#include "lock/guarded_routes.h"
#include "lock/lock_middleware.h"
#include "services/password_versions.h"

#include <drogon/HttpTypes.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace festa {

// Roles of which a caller needs one; empty: anyone may call.
using Access = std::vector<std::string>;
inline const Access kAnyone = {};
inline const Access kAdmins = {"ROLE_ADMIN"};
inline const Access kCouncils = {"ROLE_COUNCIL", "ROLE_ADMIN"};
inline const Access kUsers = {"ROLE_USER"};
inline const Access kUsersAndAdmins = {"ROLE_USER", "ROLE_ADMIN"};

struct Endpoint {
  drogon::HttpMethod method;
  std::string path;  // with {name} segments
  Access access;
  bool takesBody = false;
  std::size_t maxBodyMembers = 1000;  // members of all objects in its body
  bool checksPassword = false;        // or makes one: costs much, and may be guessed
  bool endsTokens = false;            // its success ends the caller's token
  bool answersToken = false;          // its answers must not be stored
  // Validates path, headers and body; throws ServiceError. Its value is the handler's inputOf<>().
  std::function<std::any(const drogon::HttpRequestPtr&, const RequestContext&)> parse = {};
  // Runs when the caller's right and input are known, before any lock; an error answers at once.
  // Not thrown: this is for crowds.
  std::function<std::optional<ErrorCode>(const drogon::HttpRequestPtr&)> before = {};
  const lock::Lockable* lock = nullptr;
  std::vector<std::string> lockBodyFields = {};  // body fields that the lock's key may use
  std::function<drogon::Task<drogon::HttpResponsePtr>(drogon::HttpRequestPtr)> handle;
  // Runs before an answer is sent that tells of an effect, or of an outcome that nobody knows: the
  // handler's, or the kept one of a repeated Idempotency-Key. Must not throw.
  std::function<void(const drogon::HttpRequestPtr&)> afterEffect = {};
};

// Who may call an endpoint. Thread-safe.
class HeaderCheck {
 public:
  // `passwords` outlives it.
  HeaderCheck(const Endpoint& endpoint, std::shared_ptr<const TokenService> tokens,
              const PasswordVersions& passwords)
      : access_(endpoint.access),
        endsTokens_(endpoint.endsTokens),
        tokens_(std::move(tokens)),
        passwords_(passwords) {}

  // Sets the context's caller, if it has none yet. Throws ServiceError: kUnauthenticated,
  // kForbidden.
  void identify(const drogon::HttpRequestPtr& request, RequestContext& context) const;

 private:
  Caller authenticate(const drogon::HttpRequestPtr& request) const;
  bool mayBeRepetition(const drogon::HttpRequestPtr& request) const;

  const Access access_;
  const bool endsTokens_;
  const std::shared_ptr<const TokenService> tokens_;
  const PasswordVersions& passwords_;
};

using Refusal =
    std::function<drogon::HttpResponsePtr(const drogon::HttpRequestPtr&, const ServiceError&)>;

// Registers endpoints with Drogon: a gate middleware (limits, authentication, role, parsing) for
// each, for authenticated writes the one for idempotency keys, then what comes before the lock, the
// lock's, and the handler. Used at start only, before run().
class Endpoints {
 public:
  // `passwords` must outlive the application's run.
  Endpoints(std::shared_ptr<const TokenService> tokens, const PasswordVersions& passwords,
            std::shared_ptr<const IdempotencyService> idempotency,
            std::shared_ptr<const Admission> admission, lock::LockMiddlewareContext lockContext,
            std::function<lock::Lockable(lock::Lockable)> configureLock, Refusal refuse);

  // Throws lock::KeyTemplateError when the lock's key needs what this endpoint does not have.
  void add(Endpoint endpoint);

  // Looks at the headers of a request that has found its route, before its body is read: who calls
  // and whether that is allowed. Throws ServiceError.
  void checkHeaders(const drogon::HttpRequestPtr& request) const;

  // Throws lock::UnguardedRoute if any endpoint would run without its gate or its lock.
  void verify() const { guarded_.verify(); }

  const std::shared_ptr<RouteTable>& routes() const { return routes_; }

 private:
  std::string addGate(const Endpoint& endpoint, const std::string& route);
  std::string addBefore(const Endpoint& endpoint, const std::string& route) const;
  std::string addLock(const Endpoint& endpoint);

  const std::shared_ptr<const TokenService> tokens_;
  const PasswordVersions& passwords_;
  const std::shared_ptr<IdempotencyMiddleware> idempotency_;
  const std::shared_ptr<const Admission> admission_;
  const Refusal refuse_;
  const lock::LockMiddlewareContext lockContext_;
  const std::function<lock::Lockable(lock::Lockable)> configureLock_;
  const std::shared_ptr<RouteTable> routes_ = std::make_shared<RouteTable>();
  std::map<std::string, std::shared_ptr<const HeaderCheck>> headerChecks_;  // by method and path
  std::set<std::string> locks_;  // names of the lock middlewares registered so far
  lock::GuardedRoutes guarded_;
};

}  // namespace festa
