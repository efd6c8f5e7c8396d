// What the logins of councils and of users have in common.
#pragma once

#include "services/password_hasher.h"

#include <optional>
#include <string>

namespace festa {

struct Credentials {
  std::string login;
  std::string password;
};

// `hash` is the stored one, nullopt when nobody has that login name. Throws
// ServiceError(kWrongCredentials), as late for an unknown name as for a wrong password. Resumes on
// the caller's loop.
drogon::Task<> requirePassword(PasswordHasher& hasher, std::optional<std::string> hash,
                               std::string password);

}  // namespace festa
