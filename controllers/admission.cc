#include "controllers/admission.h"

#include "services/error.h"

namespace festa {

namespace {

void requireToken(RateLimiter& limiter, const std::string& name) {
  const auto wait = limiter.take(name);
  if (!wait) return;
  ServiceError error(ErrorCode::kRateLimited);
  error.retryAfter(*wait);
  throw error;
}

}  // namespace

void Admission::admitAddress(const drogon::HttpRequestPtr& request) const {
  if (!byAddress) return;
  requireToken(*byAddress,
               limitedName(clientAddress(request->peerAddr().toIp(),
                                         request->getHeader("x-forwarded-for"), proxies)));
}

void Admission::admitCaller(const Caller& caller) const {
  if (!byCaller) return;
  const std::string realm = caller.realm == Realm::kCouncil ? "council:" : "user:";
  requireToken(*byCaller, realm + std::to_string(caller.uid));
}

}  // namespace festa
