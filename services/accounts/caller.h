// The account that a request's token names.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

enum class Realm { kCouncil, kUser };

struct Caller {
  std::string login;
  std::int64_t uid = 0;
  Realm realm = Realm::kCouncil;
  std::optional<std::int64_t> festivalId;  // realm council only
  std::vector<std::string> roles;
  std::int64_t passwordVersion = 0;  // of the password that the token was given for
  // The token's end. In seconds, as in the token: every value of `exp` fits.
  std::chrono::sys_seconds expiresAt = std::chrono::sys_seconds::max();

  bool hasRole(const std::string& role) const {
    return std::find(roles.begin(), roles.end(), role) != roles.end();
  }
};

}  // namespace festa
