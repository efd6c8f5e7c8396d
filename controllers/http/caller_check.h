// The caller of a request: its token, its role, its limits.
#pragma once

#include "controllers/http/client_address.h"
#include "controllers/http/rate_limiter.h"
#include "controllers/http/request_context.h"
#include "services/accounts/password_versions.h"

#include <drogon/HttpRequest.h>

#include <memory>
#include <vector>

namespace festa {

// A limit that is null is off.
struct CallerLimits {
  // Logins, registrations, changes of passwords: each costs a password hash, and most are guesses.
  std::unique_ptr<RateLimiter> passwords;
  std::unique_ptr<RateLimiter> writes;  // authenticated ones
  std::vector<AddressRange> proxies;    // whose X-Forwarded-For is believed
};

// Thread-safe. What it is made of outlives it.
class CallerCheck {
 public:
  CallerCheck(const TokenService& tokens, const PasswordVersions& passwords, CallerLimits limits)
      : tokens_(tokens), passwords_(passwords), limits_(std::move(limits)) {}

  // Sets the context's caller when the route needs one. Called before the body of a request is
  // read, so that a client that is refused need not send it. Throws ServiceError: kUnauthenticated,
  // kForbidden.
  void identify(const RouteSpec& route, const drogon::HttpRequestPtr& request,
                RequestContext& context) const;

  // Called once for each request, when it has been read: identifies its caller and counts it
  // against the limits of its address and its caller. A token that was verified before the body is
  // not verified again, but its password may have changed while the body came. Throws what
  // identify() throws, and ServiceError(kRateLimited).
  void admit(const RouteSpec& route, const drogon::HttpRequestPtr& request,
             RequestContext& context) const;

 private:
  void limitAddress(const RouteSpec& route, const drogon::HttpRequestPtr& request) const;
  void limitCaller(const RouteSpec& route, const RequestContext& context) const;
  Caller authenticate(const drogon::HttpRequestPtr& request) const;

  const TokenService& tokens_;
  const PasswordVersions& passwords_;
  const CallerLimits limits_;
};

}  // namespace festa
