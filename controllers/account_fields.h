// Limits of the fields that accounts of every kind have.
#pragma once

#include "controllers/json_body.h"
#include "services/credentials.h"

namespace festa {

inline constexpr std::size_t kMaxLogin = 50;
inline constexpr std::size_t kMinPassword = 8;
inline constexpr std::size_t kMaxPassword = 128;

// The fields of a login. A password too short to be set is simply wrong.
inline Credentials readCredentials(FieldReader& fields, const char* login, const char* password) {
  return {fields.text(login, kMaxLogin), fields.password(password, 1, kMaxPassword)};
}

}  // namespace festa
