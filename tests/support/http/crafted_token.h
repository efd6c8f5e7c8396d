// Tokens made by hand, so that they can be anything.
#pragma once

#include <openssl/evp.h>

#include <string>

namespace festa::test {

// base64url without padding.
std::string base64Url(std::string_view text);

// `header` and `payload` as they are, signed with HMAC.
std::string craftedToken(const std::string& header, const std::string& payload,
                         const std::string& secret, const EVP_MD* digest = EVP_sha256());

}  // namespace festa::test
