// Who calls, and whether that is allowed.
#pragma once

#include "controllers/request_context.h"
#include "services/password_versions.h"

#include <drogon/HttpRequest.h>

namespace festa {

// Thread-safe. What it is made of outlives it.
class CallerCheck {
 public:
  CallerCheck(const TokenService& tokens, const PasswordVersions& passwords)
      : tokens_(tokens), passwords_(passwords) {}

  // Sets the context's caller, if the route needs one and it has none yet. May be asked again when
  // the body is there: a password may have changed meanwhile. Throws ServiceError:
  // kUnauthenticated, kForbidden.
  void identify(const RouteHead& route, const drogon::HttpRequestPtr& request,
                RequestContext& context) const;

 private:
  Caller authenticate(const drogon::HttpRequestPtr& request) const;

  const TokenService& tokens_;
  const PasswordVersions& passwords_;
};

}  // namespace festa
