// JSON Web Tokens, HS256 only.
#pragma once

#include "services/accounts/verified_tokens.h"

#include <chrono>
#include <optional>
#include <string>

namespace festa {

// Thread-safe.
class TokenService {
 public:
  TokenService(std::string secret, std::chrono::seconds lifetime);

  // `caller.expiresAt` does not count: the token lives as long as tokens do.
  std::string issue(const Caller& caller) const;
  // Nullopt for anything but a token of ours within its time: another algorithm, `none`, a bad
  // signature, missing claims, a header with `crit`, `nbf` in the future, `exp` in the past, `iat`
  // longer ago than `lifetime` (so a shortened lifetime holds for tokens issued before). Roles of
  // another realm are left out. Whether a changed password has ended it, PasswordVersions knows.
  std::optional<Caller> verify(const std::string& token) const;

 private:
  const std::string secret_;
  const std::chrono::seconds lifetime_;
  mutable VerifiedTokens verified_;
};

}  // namespace festa
