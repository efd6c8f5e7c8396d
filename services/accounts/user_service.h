// Users: the audience, who reserve seats and claim coupons.
#pragma once

#include "services/accounts/credentials.h"
#include "services/accounts/token_service.h"
#include "services/write/database.h"

#include <memory>
#include <string>

namespace festa {

inline constexpr const char* kUserRole = "ROLE_USER";

struct NewUser {
  Credentials credentials;
  std::string name;
  std::int32_t age = 0;
  std::string email;
  std::string phone;
};

struct UserLogin {
  std::int64_t id = 0;
  std::string accessToken;
};

// Thread-safe.
class UserService {
 public:
  UserService(const Database& database, PasswordHasher& hasher, const TokenService& tokens)
      : database_(database), hasher_(hasher), tokens_(tokens) {}

  // The new user's id. Throws ServiceError(kAlreadyRegisteredUser) when the login name is taken.
  drogon::Task<std::int64_t> create(NewUser user) const;
  // Throws ServiceError(kWrongCredentials).
  drogon::Task<UserLogin> login(Credentials credentials) const;

 private:
  const Database& database_;
  PasswordHasher& hasher_;
  const TokenService& tokens_;
};

}  // namespace festa
