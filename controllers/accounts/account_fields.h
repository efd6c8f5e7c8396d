// The fields that accounts of every kind have.
#pragma once

#include "controllers/json/json_body.h"
#include "services/accounts/credentials.h"
#include "services/accounts/login_name.h"

namespace festa {

inline constexpr std::size_t kMinPassword = 8;
inline constexpr std::size_t kMaxPassword = 128;

// A name that an account may get, in NFC; its faults are rejected.
std::string readNewLogin(FieldReader& fields, const char* field);

// The fields of a login. A name that no account may get, or a password too short to be set, is
// simply wrong: accounts of older versions may have such a name.
Credentials readCredentials(FieldReader& fields, const char* login, const char* password);

}  // namespace festa
