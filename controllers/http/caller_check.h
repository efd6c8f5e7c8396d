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

  // Sets the context's caller, if the route needs one and it has none yet. May be asked again when
  // the body is there: a password may have changed meanwhile. Throws ServiceError:
  // kUnauthenticated, kForbidden.
  void identify(const RouteHead& route, const drogon::HttpRequestPtr& request,
                RequestContext& context) const;

  // Counts the request against the limits of its address, and of its caller when that is known.
  // Throw ServiceError(kRateLimited).
  void limitAddress(const RouteHead& route, const drogon::HttpRequestPtr& request) const;
  void limitCaller(const RouteHead& route, const RequestContext& context) const;

 private:
  Caller authenticate(const drogon::HttpRequestPtr& request) const;

  const TokenService& tokens_;
  const PasswordVersions& passwords_;
  const CallerLimits limits_;
};

}  // namespace festa
