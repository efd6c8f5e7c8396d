// Who is let in: rate limits by address and by caller.
#pragma once

#include "controllers/client_address.h"
#include "controllers/rate_limiter.h"
#include "services/token_service.h"

#include <drogon/HttpRequest.h>

#include <memory>
#include <vector>

namespace festa {

// Thread-safe. A limit that is nullptr is off. Each throws ServiceError(kRateLimited).
struct Admission {
  std::shared_ptr<RateLimiter> byAddress;  // logins and registrations: each costs a password hash
  std::shared_ptr<RateLimiter> byCaller;   // authenticated writes
  std::vector<AddressRange> proxies;       // whose X-Forwarded-For is believed

  void admitAddress(const drogon::HttpRequestPtr& request) const;
  void admitCaller(const Caller& caller) const;
};

}  // namespace festa
