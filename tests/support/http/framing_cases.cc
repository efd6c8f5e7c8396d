#include "tests/support/http/framing_cases.h"

#include <sstream>

namespace festa::test {

using namespace std::string_literals;

namespace {

std::string hexadecimal(std::size_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

}  // namespace

std::vector<std::string> requestsWithAmbiguousLengths() {
  std::vector<std::string> requests;
  for (const auto* headers : {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
                              "Content-Length: 2\r\nContent-Length: 50\r\n",
                              "Content-Length: 2\r\nContent-Length: 2\r\n",
                              "Content-Length: 2, 50\r\n",
                              "Content-Length: 2, 2\r\n",
                              "Content-Length: 2abc\r\n",
                              "Content-Length: +2\r\n",
                              "Content-Length: -2\r\n",
                              "Content-Length: 0x2\r\n",
                              "Content-Length: 2 \t2\r\n",
                              "Content-Length:\r\n",
                              "Content-Length: 99999999999999999999\r\n",
                              "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                              "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                              "Transfer-Encoding: chunked, chunked\r\n",
                              "Transfer-Encoding: gzip, chunked\r\n",
                              "Transfer-Encoding: identity\r\n",
                              "Transfer-Encoding: xchunked\r\n",
                              "Transfer-Encoding: \"chunked\"\r\n",
                              "Transfer-Encoding:\r\n"})
    requests.push_back(kPost + headers + "\r\n{}" + kHidden);
  return requests;
}

std::vector<std::string> requestsWithAmbiguousLines() {
  std::vector<std::string> requests;
  for (const auto& line : {"Content-Length : 2"s, "Content-Length\t: 2"s, " Content-Length: 2"s,
                           "no colon"s, ": no name"s, "Folded: a\r\n b"s, "Folded: a\r\n\tb"s,
                           "X: a\rContent-Length: 2"s, "X: a\nContent-Length: 2"s, "X: a\0b"s,
                           "X\0: a"s, "X(: a"s, "X: \x7f"s, "X: \x01"s, "\r"s, "\n"s})
    requests.push_back("POST /councils/login HTTP/1.1\r\nHost: x\r\n" + line +
                       "\r\nContent-Length: 2\r\n\r\n{}" + kHidden);
  return requests;
}

std::vector<std::string> requestsWithAmbiguousChunks() {
  std::vector<std::string> requests;
  for (const auto* chunks :
       {"0x1f\r\n", "2 junk\r\n{}\r\n", "2 \r\n{}\r\n", " 2\r\n{}\r\n", "\t2\r\n{}\r\n",
        "+2\r\n{}\r\n", "-2\r\n{}\r\n", "2\n{}\r\n", "2\r{}\r\n", "2\r\n{}\n", "2\r\n{}0\r\n",
        "2\r\n{}xx", "\r\n", ";a=b\r\n", "2;a\x01\r\n{}\r\n", "g\r\n",
        "00000000000000002\r\n{}\r\n", "2\r\n{}\r\n0\r\nno colon\r\n\r\n",
        "2\r\n{}\r\n0\r\nX : a\r\n\r\n"})
    requests.push_back(kPost + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "\r\n0\r\n\r\n" +
                       kHidden);
  return requests;
}

std::vector<std::string> requestsWithoutOneHost() {
  return {"GET /healthz HTTP/1.1\r\n\r\n" + kHidden,
          "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + kHidden,
          "GET /healthz HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n" + kHidden,
          "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n" + kHidden};
}

std::vector<std::string> requestsOfHttp10WithChunks() {
  return {"POST /councils/login HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + kHidden};
}

std::vector<ChunkedBody> wellFormedChunks(const std::string& content) {
  const auto size = hexadecimal(content.size());
  const auto rest = hexadecimal(content.size() - 1);
  const auto whole = size + "\r\n" + content + "\r\n";
  return {{"chunked", whole + "0\r\n\r\n"},
          {"CHUNKED", whole + "0\r\n\r\n"},
          {"chunked", size + ";name=\"value\"\r\n" + content + "\r\n000;last\r\n\r\n"},
          {"chunked", "1\r\n" + content.substr(0, 1) + "\r\n" + rest + "\r\n" + content.substr(1) +
                          "\r\n0\r\n\r\n"},
          {"chunked", whole + "0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"}};
}

}  // namespace festa::test
