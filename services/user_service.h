// Users: the audience, who reserve seats and claim coupons.
#pragma once

#include "services/credentials.h"
#include "services/database.h"
#include "services/token_service.h"

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
  UserService(Database database, std::shared_ptr<PasswordHasher> hasher,
              std::shared_ptr<TokenService> tokens)
      : database_(std::move(database)), hasher_(std::move(hasher)), tokens_(std::move(tokens)) {}

  // The new user's id. Throws ServiceError(kAlreadyRegisteredUser) when the login name is taken.
  drogon::Task<std::int64_t> create(NewUser user) const;
  // Throws ServiceError(kWrongCredentials).
  drogon::Task<UserLogin> login(Credentials credentials) const;

 private:
  const Database database_;
  const std::shared_ptr<PasswordHasher> hasher_;
  const std::shared_ptr<TokenService> tokens_;
};

}  // namespace festa
