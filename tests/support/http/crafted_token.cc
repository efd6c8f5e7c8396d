#include "tests/support/http/crafted_token.h"

#include <drogon/utils/Utilities.h>
#include <openssl/hmac.h>

namespace festa::test {

std::string base64Url(std::string_view text) {
  return drogon::utils::base64EncodeUnpadded(text, true);
}

std::string craftedToken(const std::string& header, const std::string& payload,
                         const std::string& secret, const EVP_MD* digest) {
  const auto text = base64Url(header) + '.' + base64Url(payload);
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  HMAC(digest, secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &length);
  return text + '.' + base64Url({reinterpret_cast<const char*>(mac), length});
}

}  // namespace festa::test
