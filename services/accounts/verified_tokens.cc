#include "services/accounts/verified_tokens.h"

#include <utility>

namespace festa {

std::optional<Caller> VerifiedTokens::find(const std::string& token, std::time_t now) {
  Entries forgotten;  // freed when others may go on
  const std::lock_guard guard(mutex_);
  if (const auto found = young_.find(token); found != young_.end()) {
    if (found->second.expires > now) return found->second.caller;
    young_.erase(found);
    return std::nullopt;
  }
  auto found = old_.extract(token);
  if (found.empty() || found.mapped().expires <= now) return std::nullopt;
  auto caller = found.mapped().caller;
  forgotten = put(token, std::move(found.mapped()));
  return caller;
}

void VerifiedTokens::add(const std::string& token, const Caller& caller, std::time_t expires) {
  Entries forgotten;
  const std::lock_guard guard(mutex_);
  forgotten = put(token, {caller, expires});
}

std::size_t VerifiedTokens::size() const {
  const std::lock_guard guard(mutex_);
  return young_.size() + old_.size();
}

VerifiedTokens::Entries VerifiedTokens::put(const std::string& token, Entry entry) {
  Entries forgotten;
  if (half_ == 0) return forgotten;
  if (young_.size() >= half_) {
    forgotten = std::exchange(old_, std::move(young_));
    young_ = {};
  }
  young_.insert_or_assign(token, std::move(entry));
  return forgotten;
}

}  // namespace festa
