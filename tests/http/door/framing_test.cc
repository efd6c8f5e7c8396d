// Where a request ends: the same for us and for every proxy in front of us (RFC 9112).
#include "tests/http/api_test.h"
#include "tests/support/http/framing_cases.h"
#include "tests/support/http/raw_socket.h"

namespace festa::test {

namespace {

using namespace std::string_literals;

const std::string kLast = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

class Framing : public ApiTest {
 protected:
  static std::string answersTo(const std::string& bytes) {
    RawSocket socket(service->port());
    socket.send(bytes);
    const auto answers = socket.readAll();
    EXPECT_TRUE(socket.isClosed()) << "the connection stays open";
    return answers;
  }

  // One answer, a 400 that says so, and the end of the connection.
  static void expectRefused(const std::string& bytes, const std::string& status = "400 ") {
    SCOPED_TRACE(bytes.substr(0, 200));
    const auto answers = answersTo(bytes);
    EXPECT_TRUE(answers.starts_with("HTTP/1.1 " + status)) << answers.substr(0, 300);
    EXPECT_EQ(occurrences(answers, "HTTP/1.1 "), 1) << answers;
    EXPECT_NE(answers.find("application/problem+json"), std::string::npos) << answers;
    EXPECT_NE(answers.find("x-request-id: "), std::string::npos) << answers;
  }
};

}  // namespace

TEST_F(Framing, AmbiguousLengthsAreRefused) {
  for (const auto& request : requestsWithAmbiguousLengths()) expectRefused(request);
}

TEST_F(Framing, HeaderLinesThatReadersUnderstandDifferentlyAreRefused) {
  for (const auto& request : requestsWithAmbiguousLines()) expectRefused(request);
}

TEST_F(Framing, ChunksThatReadersUnderstandDifferentlyAreRefused) {
  for (const auto& request : requestsWithAmbiguousChunks()) expectRefused(request);
}

TEST_F(Framing, ThereIsOneHost) {
  for (const auto& request : requestsWithoutOneHost()) expectRefused(request);
  EXPECT_TRUE(answersTo("GET /healthz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 200"));
}

TEST_F(Framing, ChunksAreNotForHttp10) {
  for (const auto& request : requestsOfHttp10WithChunks()) expectRefused(request);
}

TEST_F(Framing, AnyCaseOfChunkedExtensionsAndTrailersWork) {
  const std::string login = R"({"username":"council1","password":"council-demo-1"})";
  for (const auto& [encoding, chunks] : wellFormedChunks(login)) {
    SCOPED_TRACE(encoding + ' ' + chunks);
    const auto answers =
        answersTo(kPost + "Transfer-Encoding: " + encoding + "\r\n\r\n" + chunks + kLast);
    EXPECT_TRUE(answers.starts_with("HTTP/1.1 201")) << answers;
    EXPECT_EQ(occurrences(answers, "HTTP/1.1 200"), 1) << "the next request was lost: " << answers;
  }
}

TEST_F(Framing, ATrailerIsNoHeader) {
  const auto answers = answersTo(
      "POST /announcements HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: " +
      council.at("Authorization") + "\r\n\r\n" + kLast);
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 401")) << answers;
}

TEST_F(Framing, BytesMayComeOneByOne) {
  const std::string bytes = kPost +
                            "Transfer-Encoding: chunked\r\n\r\n1;x\r\n{\r\n1\r\n}\r\n0\r\nT: 1\r\n"
                            "\r\n" +
                            kLast;
  RawSocket socket(service->port());
  for (const char byte : bytes) ASSERT_TRUE(socket.send(std::string(1, byte)));
  const auto answers = socket.readAll();
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 422")) << answers;
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 200"), 1) << answers;
}

TEST_F(Framing, ExpectationsAreAnsweredBeforeTheBodyIsSent) {
  const std::string login = R"({"username":"council1","password":"council-demo-1"})";
  for (const auto& [header, body] : std::vector<std::pair<std::string, std::string>>{
           {"Content-Length: 51", login},
           {"Transfer-Encoding: chunked", "33\r\n" + login + "\r\n0\r\n\r\n"}}) {
    SCOPED_TRACE(header);
    RawSocket socket(service->port());
    socket.send(kPost + header + "\r\nExpect: 100-continue\r\n\r\n");
    ASSERT_TRUE(socket.readUntil("HTTP/1.1 100 Continue\r\n", 1, std::chrono::seconds(5)));
    socket.send(body);
    EXPECT_TRUE(socket.readUntil("HTTP/1.1 201", 1, std::chrono::seconds(10)));
  }
  // In any case; HTTP/1.0 does not know it, and the body comes without being asked for.
  EXPECT_TRUE(answersTo(kPost + "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n{}" + kLast)
                  .starts_with("HTTP/1.1 100"));
  EXPECT_TRUE(answersTo("POST /councils/login HTTP/1.0\r\nContent-Type: application/json\r\n"
                        "Content-Length: 51\r\nExpect: 100-continue\r\n\r\n" +
                        login)
                  .starts_with("HTTP/1.0 201"));
  expectRefused(kPost + "Content-Length: 2\r\nExpect: a miracle\r\n\r\n{}");
  // Refused by its headers: the body is not asked for.
  const auto refused = answersTo(
      "POST /announcements HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 401")) << refused;
}

TEST_F(Framing, RequestsBeforeAnErrorAreAnsweredFirst) {
  const auto answers = answersTo(
      "GET /performances HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /healthz HTTP/1.1\r\nbroken\r\n\r\n" +
      kHidden);
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 200"), 2) << answers;
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 400"), 1) << answers;
  EXPECT_GT(answers.find("HTTP/1.1 400"), answers.rfind("HTTP/1.1 200"));
}

TEST_F(Framing, NothingIsReadBehindTheLastRequest) {
  const std::string body = R"({"title":"hidden","content":"behind the last request"})";
  const auto hidden =
      "POST /announcements HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Authorization: " +
      council.at("Authorization") + "\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  for (const auto* last :
       {"1.1\r\nHost: x\r\nConnection: close\r\n", "1.1\r\nHost: x\r\nConnection: Close\r\n",
        "1.1\r\nHost: x\r\nConnection: keep-alive, close\r\n", "1.0\r\n"}) {
    SCOPED_TRACE(last);
    const auto answers = answersTo("GET /healthz HTTP/"s + last + "\r\n" + hidden);
    EXPECT_EQ(occurrences(answers, "HTTP/1."), 1) << answers;
  }
  // Without the option it is a request like any other. It waited for its festival's lock behind all
  // that came before.
  const auto answers = answersTo("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + hidden + kLast);
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 201"), 1) << answers;
  EXPECT_EQ(inDatabase("SELECT count(*) FROM announcements WHERE festival_id = $1",
                       {std::to_string(festival)}),
            "1");
}

TEST_F(Framing, UnknownMethodsAreRefusedWithWhatIsAllowed) {
  for (const auto* method : {"TRACE", "BREW", "PROPFIND", "get", "CONNECT"}) {
    SCOPED_TRACE(method);
    const auto answers =
        answersTo(method + " /announcements HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"s);
    EXPECT_TRUE(answers.starts_with("HTTP/1.1 405")) << answers;
    EXPECT_NE(answers.find("allow: "), std::string::npos) << answers;
    EXPECT_NE(answers.find("METHOD_NOT_ALLOWED"), std::string::npos) << answers;
    EXPECT_TRUE(answersTo(method + " /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"s)
                    .starts_with("HTTP/1.1 404"));
  }
  expectRefused("G(T /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  expectRefused(std::string(100, 'X') + " /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
}

TEST_F(Framing, HeadersAreBounded) {
  expectRefused("GET /" + std::string(70'000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n");
  expectRefused("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n",
                "431 ");
  expectRefused("GET /healthz HTTP/1.1\r\nHost: x\r\n" +
                    repeated("X: " + std::string(1000, 'x') + "\r\n", 70) + "\r\n",
                "431 ");
  expectRefused("GET /healthz HTTP/1.1\r\nHost: x\r\n" + repeated("X: y\r\n", 101) + "\r\n",
                "431 ");
  EXPECT_TRUE(answersTo("GET /healthz HTTP/1.1\r\nHost: x\r\n" + repeated("X: y\r\n", 98) +
                        "Connection: close\r\n\r\n")
                  .starts_with("HTTP/1.1 200"));
}

}  // namespace festa::test
