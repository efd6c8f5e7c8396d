#include "services/accounts/credentials.h"

#include "services/error.h"

namespace festa {

drogon::Task<> requirePassword(PasswordHasher& hasher, std::optional<std::string> hash,
                               std::string password) {
  bool right = false;
  if (hash)
    right = co_await hasher.verify(*hash, password);
  else
    right = co_await hasher.verifyUnknown(password);
  if (!right) throw ServiceError(ErrorCode::kWrongCredentials);
}

}  // namespace festa
