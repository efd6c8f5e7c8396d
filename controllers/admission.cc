#include "controllers/admission.h"

#include "services/error.h"

namespace festa {

namespace {

void requireToken(const std::unique_ptr<RateLimiter>& limiter, const std::string& name) {
  const auto wait = limiter ? limiter->take(name) : std::nullopt;
  if (!wait) return;
  ServiceError error(ErrorCode::kRateLimited);
  error.retryAfter(*wait);
  throw error;
}

std::string nameOf(const Caller& caller) {
  return (caller.realm == Realm::kCouncil ? "council:" : "user:") + std::to_string(caller.uid);
}

}  // namespace

void Admission::admitPassword(const drogon::HttpRequestPtr& request) const {
  requireToken(passwords,
               limitedName(clientAddress(request->peerAddr().toIp(),
                                         request->getHeader("x-forwarded-for"), proxies)));
}

void Admission::admitPassword(const Caller& caller) const {
  requireToken(passwords, nameOf(caller));
}

void Admission::admitWrite(const Caller& caller) const {
  requireToken(writes, nameOf(caller));
}

}  // namespace festa
