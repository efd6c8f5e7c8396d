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
  // Logins, registrations, changes of passwords: each costs a password hash, and most are guesses.
  std::unique_ptr<RateLimiter> passwords;
  std::unique_ptr<RateLimiter> writes;  // authenticated ones
  std::vector<AddressRange> proxies;    // whose X-Forwarded-For is believed

  void admitPassword(const drogon::HttpRequestPtr& request) const;  // by address
  void admitPassword(const Caller& caller) const;
  void admitWrite(const Caller& caller) const;
};

}  // namespace festa
