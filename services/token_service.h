// JSON Web Tokens, HS256 only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

enum class Realm { kCouncil, kUser };

// Who a token speaks for.
struct Caller {
  std::string login;
  std::int64_t uid = 0;
  Realm realm = Realm::kCouncil;
  std::optional<std::int64_t> festivalId;  // realm council only
  std::vector<std::string> roles;

  bool hasRole(const std::string& role) const;
};

// Immutable, thread-safe.
class TokenService {
 public:
  TokenService(std::string secret, std::chrono::seconds lifetime);

  std::string issue(const Caller& caller) const;
  // Nullopt for anything but an unexpired token of ours: another algorithm, `none`, a bad
  // signature, missing claims.
  std::optional<Caller> verify(const std::string& token) const;

 private:
  const std::string secret_;
  const std::chrono::seconds lifetime_;
};

}  // namespace festa
