#include "tests/fuzz/strict_framing.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::string_literals;

constexpr std::size_t kMaxBody = 1000;
const std::string kNext = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string kPost = "POST / HTTP/1.1\r\nHost: x\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";

Framing framingOf(const std::string& bytes) {
  return StrictFraming(kMaxBody).read(bytes);
}

// The bodies of all requests, and "refused".
std::vector<std::string> bodies(const std::string& bytes) {
  std::vector<std::string> result;
  const auto framing = framingOf(bytes);
  for (const auto& request : framing.requests) result.push_back(request.body);
  if (framing.refusal) result.push_back("refused");
  return result;
}

using Bodies = std::vector<std::string>;

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST(StrictFraming, RequestsEndWhereTheirLengthSays) {
  const auto first = kPost + "Content-Length: 2\r\n\r\n{}";
  const auto framing = framingOf(first + kNext);
  ASSERT_EQ(framing.requests.size(), 2U);
  EXPECT_FALSE(framing.refusal);
  EXPECT_EQ(framing.requests[0].method, "POST");
  EXPECT_EQ(framing.requests[0].target, "/");
  EXPECT_EQ(framing.requests[0].body, "{}");
  EXPECT_EQ(framing.requests[0].end, first.size());
  EXPECT_EQ(framing.requests[1].target, "/next");
  EXPECT_EQ(framing.requests[1].end, first.size() + kNext.size());
}

TEST(StrictFraming, AnIncompleteRequestIsNeitherReadNorRefused) {
  const auto bytes = kChunked + "2;x\r\n{}\r\n0\r\nT: 1\r\n\r\n";
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(bodies(bytes.substr(0, size)), Bodies{}) << size;
  EXPECT_EQ(bodies(bytes), Bodies{"{}"});
}

TEST(StrictFraming, ChunksExtensionsAndTrailers) {
  EXPECT_EQ(bodies(kChunked + "1\r\na\r\nA;x=\"y\"\r\n0123456789\r\n000\r\nT: 1\r\n\r\n" + kNext),
            (Bodies{"a0123456789", ""}));
  EXPECT_EQ(bodies(kPost + "transfer-encoding:\tCHUNKED \r\n\r\n0\r\n\r\n" + kNext),
            (Bodies{"", ""}));
}

TEST(StrictFraming, AmbiguousLengthsAreRefused) {
  for (const auto* headers :
       {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        "Content-Length: 2\r\nContent-Length: 50\r\n", "Content-Length: 2\r\nContent-Length: 2\r\n",
        "Content-Length: 2, 2\r\n", "Content-Length: 2abc\r\n", "Content-Length: +2\r\n",
        "Content-Length: -2\r\n", "Content-Length: 0x2\r\n", "Content-Length:\r\n",
        "Content-Length: 1001\r\n", "Content-Length: 18446744073709551618\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding:\r\n"})
    EXPECT_EQ(bodies(kPost + headers + "\r\n{}" + kNext), Bodies{"refused"}) << headers;
}

TEST(StrictFraming, HeaderLinesThatReadersUnderstandDifferentlyAreRefused) {
  for (const auto& line :
       {"Content-Length : 2"s, "Content-Length\t: 2"s, " Content-Length: 2"s, "no colon"s,
        ": no name"s, "Folded: a\r\n b"s, "X: a\rContent-Length: 2"s, "X: a\nContent-Length: 2"s,
        "X: a\0b"s, "X\0: a"s, "X(: a"s, "X: \x7f"s, "\r"s, "\n"s, "Host: y"s})
    EXPECT_EQ(bodies(kPost + line + "\r\nContent-Length: 2\r\n\r\n{}" + kNext), Bodies{"refused"})
        << line;
}

TEST(StrictFraming, ChunksThatReadersUnderstandDifferentlyAreRefused) {
  for (const auto* chunks :
       {"0x2\r\n{}\r\n", "2 \r\n{}\r\n", " 2\r\n{}\r\n", "+2\r\n{}\r\n", "-2\r\n{}\r\n",
        "2\n{}\r\n", "2\r\n{}\n", "2\r\n{}xx", ";a=b\r\n", "2;a\x01\r\n{}\r\n", "g\r\n",
        "00000000000000002\r\n{}\r\n", "2 ;a\r\n{}\r\n", "2\r\n{}\r\n0\r\nX : a\r\n\r\n", "3e9\r\n",
        "ffffffffffffffff\r\n", "2\r\n{}\r\n3e7\r\n"})
    EXPECT_EQ(bodies(kChunked + chunks + "\r\n0\r\n\r\n" + kNext), Bodies{"refused"}) << chunks;
}

TEST(StrictFraming, RequestLinesHaveThreeParts) {
  for (const auto* line :
       {"GET /", "GET / HTTP/1.2", "GET / http/1.1", "GET  / HTTP/1.1", "GET / HTTP/1.1 ",
        " GET / HTTP/1.1", "G(T / HTTP/1.1", "GET /\t HTTP/1.1", "GET /\n HTTP/1.1",
        "XXXXXXXXXXXXXXXXXXXXX / HTTP/1.1", ""})
    EXPECT_EQ(bodies(line + "\r\nHost: x\r\n\r\n"s + kNext), Bodies{"refused"}) << line;
}

TEST(StrictFraming, ThereIsOneHost) {
  EXPECT_EQ(bodies("GET / HTTP/1.1\r\n\r\n" + kNext), Bodies{"refused"});
  EXPECT_EQ(bodies("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n" + kNext), Bodies{"refused"});
  EXPECT_EQ(bodies("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n" + kNext), Bodies{"refused"});
  EXPECT_EQ(bodies("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + kNext), (Bodies{"", ""}));
}

TEST(StrictFraming, Http10HasNoChunks) {
  EXPECT_EQ(bodies("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            Bodies{"refused"});
}

TEST(StrictFraming, NothingIsReadBehindTheLastRequest) {
  for (const auto* headers :
       {"1.1\r\nHost: x\r\nConnection: close\r\n", "1.1\r\nHost: x\r\nConnection: a, CLOSE ,b\r\n",
        "1.1\r\nHost: x\r\nConnection: keep-alive\r\nConnection: close\r\n", "1.0\r\n",
        "1.0\r\nConnection: close\r\nConnection: keep-alive\r\n"})
    for (const auto& next : {kNext, "no request\r\n"s})
      EXPECT_EQ(bodies("GET / HTTP/"s + headers + "\r\n" + next), Bodies{""}) << headers;
}

TEST(StrictFraming, ExpectationsOtherThanToContinueAreRefused) {
  EXPECT_EQ(bodies(kPost + "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx"), Bodies{"x"});
  EXPECT_EQ(bodies(kPost + "Expect: x\r\nContent-Length: 1\r\n\r\nx"), Bodies{"refused"});
}

TEST(StrictFraming, LinesAreBounded) {
  const auto withLines = [](std::size_t lines, std::size_t trailers) {
    return kPost + "Transfer-Encoding: chunked\r\n" + repeated("X: y\r\n", lines - 2) +
           "\r\n0\r\n" + repeated("X: y\r\n", trailers) + "\r\n";
  };
  EXPECT_EQ(bodies(withLines(100, 0)), Bodies{""});
  EXPECT_EQ(bodies(withLines(98, 2)), Bodies{""});
  EXPECT_EQ(bodies(withLines(101, 0)), Bodies{"refused"});
  EXPECT_EQ(bodies(withLines(98, 3)), Bodies{"refused"});

  // "Host: x", "X: " and their ends are 14 bytes.
  const auto withHeaders = [](std::size_t bytes) {
    return "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(bytes - 14, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(bodies(withHeaders(StrictFraming::kMaxHeaderBytes)), Bodies{""});
  EXPECT_EQ(bodies(withHeaders(StrictFraming::kMaxHeaderBytes + 1)), Bodies{"refused"});

  const auto withTarget = [](std::size_t rest) {
    return "GET /" + std::string(rest - 10, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  };
  EXPECT_EQ(bodies(withTarget(StrictFraming::kMaxRequestLine)), Bodies{""});
  EXPECT_EQ(bodies(withTarget(StrictFraming::kMaxRequestLine + 1)), Bodies{"refused"});

  EXPECT_EQ(bodies(kChunked + "0;" + std::string(254, 'x') + "\r\n\r\n"), Bodies{""});
  EXPECT_EQ(bodies(kChunked + "0;" + std::string(255, 'x') + "\r\n\r\n"), Bodies{"refused"});
}

}  // namespace festa::test
