// Councils: the accounts that write announcements. An admin is a council with ROLE_ADMIN.
#pragma once

#include "services/accounts/credentials.h"
#include "services/accounts/password_versions.h"
#include "services/accounts/token_service.h"
#include "services/write/database.h"

#include <memory>
#include <string>

namespace festa {

struct NewCouncil {
  std::int64_t festivalId = 0;
  std::string username;  // in NFC
  std::string password;
};

struct Login {
  std::int64_t festivalId = 0;
  std::string accessToken;
};

class CouncilService {
 public:
  // `passwords` must outlive this.
  CouncilService(const Database& database, PasswordHasher& hasher, const TokenService& tokens,
                 PasswordVersions& passwords)
      : database_(database), hasher_(hasher), tokens_(tokens), passwords_(passwords) {}

  // Throws ServiceError(kWrongCredentials).
  drogon::Task<Login> login(Credentials credentials) const;
  // Throws ServiceError: kFestivalNotFound, kAlreadyRegisteredCouncil.
  drogon::Task<std::int64_t> create(NewCouncil council,
                                    const Receipt<std::int64_t>* receipt = nullptr) const;
  // Ends all tokens issued before. A wrong current password is a validation error of that field,
  // not a 401: clients log out on those.
  drogon::Task<> changePassword(std::int64_t councilId, std::string current,
                                std::string replacement,
                                const Receipt<std::int64_t>* receipt = nullptr) const;

 private:
  const Database& database_;
  PasswordHasher& hasher_;
  const TokenService& tokens_;
  PasswordVersions& passwords_;
};

}  // namespace festa
