// What the logins of councils and of users have in common.
#pragma once

#include "services/accounts/password_hasher.h"

#include <optional>
#include <string>

namespace festa {

struct Credentials {
  std::string login;  // of a login: in any spelling; of a new account: in NFC
  std::string password;
};

// Logins look a name up in the spelling that was sent, then in NFC. New names are in NFC; accounts
// of older versions that share a name keep their own spelling (migration V006).

// `hash` is the stored one; nullopt when no account has that login name. Throws
// ServiceError(kWrongCredentials); for an unknown name it takes as long as for a wrong password.
// Resumes on the caller's loop.
drogon::Task<> requirePassword(PasswordHasher& hasher, std::optional<std::string> hash,
                               std::string password);

}  // namespace festa
