// Requests whose end two readers could see at different places (RFC 9112), each with a second
// request behind it that only one of them would find.
#pragma once

#include <string>
#include <vector>

namespace festa::test {

// The second request: nothing else asks for this path in these cases.
inline const std::string kHidden = "GET /performances HTTP/1.1\r\nHost: hidden\r\n\r\n";
inline const std::string kPost =
    "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

std::vector<std::string> requestsWithAmbiguousLengths();
std::vector<std::string> requestsWithAmbiguousLines();
std::vector<std::string> requestsWithAmbiguousChunks();
std::vector<std::string> requestsWithoutOneHost();
std::vector<std::string> requestsOfHttp10WithChunks();

// A body of chunks as RFC 9112 allows it, of `content`.
struct ChunkedBody {
  std::string encoding;  // of Transfer-Encoding
  std::string bytes;
};
std::vector<ChunkedBody> wellFormedChunks(const std::string& content);

}  // namespace festa::test
