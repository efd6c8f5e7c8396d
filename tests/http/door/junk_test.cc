// Malformed and hostile requests: a clear 4xx, and the service goes
// on.
#include "tests/http/api_test.h"
#include "tests/support/http/raw_socket.h"

#include <jwt.h>

namespace festa::test {

namespace {

using namespace std::string_literals;

struct Route {
  std::string method;
  std::string path;
  std::string body;  // a valid one; empty: takes none
};

// So far, by the log: each of them writes a line.
int lockRequests(const Service& service) {
  return occurrences(service.log(), R"("event":"lock")");
}

// A problem if the request got as far as our code; the parser's own refusals have no body.
void expectRefused(const Response& response) {
  EXPECT_GE(response.status, 400);
  EXPECT_LT(response.status, 500) << response.body;
  if (!response.body.empty()) expectProblem(response, response.status, response.code());
}

void expectProblemBody(const Response& response) {
  expectRefused(response);
  EXPECT_FALSE(response.code().empty()) << response.status;
}

class JunkTest : public ApiTest {
 protected:
  static void SetUpTestSuite() {
    ApiTest::SetUpTestSuite();
    auto client = service->client();
    // So that the lock metric exists, and so that junk aims at something real.
    const auto body = R"({"title":"t","content":"c","isPinned":true})";
    const auto created = client.send("POST", "/announcements", body, service->as("admin"));
    announcement = "/announcements/" + created.json()["announcementId"].asString();
  }

  JunkTest()
      : admin(service->as("admin")),
        original(client.get("/announcements", {{"festival", "1"}}).body),
        locksBefore(lockRequests(*service)) {
    EXPECT_GT(locksBefore, 0);
  }
  // The same process still serves, nothing was changed, and no invalid request took a lock.
  void TearDown() override {
    EXPECT_TRUE(service->process().isRunning());
    client.disconnect();
    EXPECT_EQ(client.get("/readyz").status, 200);
    EXPECT_EQ(client.get("/announcements", {{"festival", "1"}}).body, original);
    EXPECT_EQ(lockRequests(*service), locksBefore)
        << "a request that could not succeed took a lock";
  }

  static std::vector<Route> writeRoutes() {
    return {{"POST", "/councils/login", R"({"username":"admin","password":"12345678"})"},
            {"POST", "/councils", R"({"festivalId":1,"username":"someone","password":"12345678"})"},
            {"PATCH", "/councils/password",
             R"({"currentPassword":"12345678","newPassword":"12345678"})"},
            {"POST", "/festivals",
             R"({"universityName":"u","festivalName":"f",)"
             R"("startDate":"2026-05-20","endDate":"2026-05-22"})"},
            {"POST", "/announcements", R"({"title":"t","content":"c","isPinned":false})"},
            {"PATCH", announcement, R"({"title":"t","content":"c"})"},
            {"PATCH", announcement + "/pin", R"({"pinned":false})"},
            {"DELETE", announcement, ""}};
  }
  static std::vector<Route> routesWithBody() {
    auto routes = writeRoutes();
    routes.pop_back();
    return routes;
  }
  static std::vector<Route> protectedRoutes() {
    auto routes = writeRoutes();
    routes.erase(routes.begin());
    return routes;
  }
  Response send(const Route& route, const std::string& body) {
    return client.send(route.method, route.path, body, admin);
  }
  // Sends bytes on a connection of their own. Status 0: it was closed, which must not take long.
  static Response answerTo(const std::string& bytes) {
    const auto start = std::chrono::steady_clock::now();
    HttpClient fresh(service->port(), 5);
    const auto response = fresh.raw(bytes);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "no answer";
    return response;
  }
  static std::string signedWith(jwt_alg_t algorithm, const std::string& key, std::int64_t expires) {
    jwt_t* raw = nullptr;
    jwt_new(&raw);
    const std::unique_ptr<jwt_t, decltype(&jwt_free)> token(raw, &jwt_free);
    const auto* bytes =
        algorithm == JWT_ALG_NONE ? nullptr : reinterpret_cast<const unsigned char*>(key.data());
    EXPECT_EQ(
        jwt_set_alg(raw, algorithm, bytes, bytes == nullptr ? 0 : static_cast<int>(key.size())), 0);
    jwt_add_grants_json(raw, R"({"sub":"admin","uid":1,"realm":"council","festivalId":1,)"
                             R"("roles":["ROLE_ADMIN"],"iat":1})");
    jwt_add_grant_int(raw, "exp", expires);
    const std::unique_ptr<char, decltype(&free)> text(jwt_encode_str(raw), &free);
    return text.get();
  }

  static inline std::string announcement;
  const Headers admin;
  const std::string original;  // what festival 1 announces
  const int locksBefore;
};

std::string replaced(const std::string& object, const std::string& field,
                     const std::string& value) {
  const auto json = Response{.status = 0, .headers = {}, .body = object}.json();
  Json::StreamWriterBuilder plain;
  plain["indentation"] = "";
  std::string text = "{";
  for (const auto& name : json.getMemberNames())
    text += (text.size() > 1 ? ",\"" : "\"") + name +
            "\":" + (name == field ? value : Json::writeString(plain, json[name]));
  return text + "}";
}

}  // namespace

TEST_F(JunkTest, BodiesThatAreNotOneJsonObjectAreMalformed) {
  const std::vector<std::string> junk{"",
                                      " ",
                                      "{",
                                      "}",
                                      "{\"title\":",
                                      "{\"title\":\"t\"",
                                      "nonsense",
                                      "null",
                                      "true",
                                      "1",
                                      "\"text\"",
                                      "[]",
                                      "[{}]",
                                      "{}{}",
                                      "{} x",
                                      "{},",
                                      "/* comment */{}",
                                      "{}// comment",
                                      "{'title':'t'}",
                                      "{\"a\":1,}",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"title\":\"t\",\"title\":\"t\"}",
                                      "{\"a\":NaN}",
                                      "{\"a\":Infinity}",
                                      "{a:1}",
                                      "{\"a\" 1}",
                                      "{\"a\":}",
                                      "{\"a\":tru}",
                                      "{\"a\":\"unterminated}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"a\":\"\\u12\"}",
                                      "\0"s,
                                      "{}\0"s,
                                      "{}\0garbage"s,
                                      "<xml/>",
                                      "a=b&c=d",
                                      "\r\n\r\n",
                                      "{\"a\":\"\xff\"}",
                                      "{\"a\":\"\xc0\x80\"}",
                                      "{\"a\":\"\xed\xa0\x80\"}",
                                      "{\"a\":\"\xe3\x81\"}",
                                      "{\"a\":\"\xf4\x90\x80\x80\"}",
                                      "{\"\xff\":1}",
                                      "\xff\xfe{\0}\0"s};
  for (const auto& route : routesWithBody())
    for (const auto& body : junk) {
      SCOPED_TRACE(route.method + ' ' + route.path + ' ' + body);
      expectProblem(send(route, body), 400, "MALFORMED_JSON");
    }
}

TEST_F(JunkTest, BodiesCutAnywhereAreMalformed) {
  for (const auto& route : routesWithBody())
    for (std::size_t length = 0; length < route.body.size(); ++length) {
      SCOPED_TRACE(route.path + ' ' + route.body.substr(0, length));
      expectProblem(send(route, route.body.substr(0, length)), 400, "MALFORMED_JSON");
    }
}

TEST_F(JunkTest, BodiesThatParsersReadDifferentlyAreRefused) {
  for (const auto& route : routesWithBody())
    for (const auto& body :
         {"{\"a\":01}"s, "{\"a\":+1}"s, "{\"a\":1.}"s, "{\"a\":-}"s, "{\"a\":1e999}"s,
          "{\"a\":0x10}"s, "\xef\xbb\xbf{}"s, "{\"a\":\"x\0y\"}"s, "{\"a\":\"\n\"}"s,
          "{\"\\u0000\":1}"s, "{\"a\":\"\\ud800\"}"s, "{\"a\":\"\\udc00\"}"s,
          "{\"a\":" + std::string(100'000, '9') + "}"}) {
      SCOPED_TRACE(route.path + ' ' + body.substr(0, 100));
      expectProblemBody(send(route, body));
    }
}

TEST_F(JunkTest, DeepNestingIsMalformed) {
  constexpr std::size_t kDepth = 100'000;
  for (const auto& route : routesWithBody())
    for (const auto& body :
         {std::string(kDepth, '['), std::string(kDepth, '{'), repeated("{\"a\":", kDepth),
          "{\"a\":" + std::string(kDepth, '[') + std::string(kDepth, ']') + "}"}) {
      SCOPED_TRACE(route.path + ' ' + body.substr(0, 10));
      expectProblem(send(route, body), 400, "MALFORMED_JSON");
    }
}

TEST_F(JunkTest, FieldsOfTheWrongTypeAreNamed) {
  for (const auto& route : routesWithBody()) {
    const auto valid = Response{.status = 0, .headers = {}, .body = route.body}.json();
    for (const auto& field : valid.getMemberNames())
      for (const auto& value :
           {"null"s, "0"s, "-1"s, "1.5"s, "\"\""s, "[]"s, "[1]"s, "{}"s, "true"s, "1e300"s,
            "18446744073709551616"s, "-9223372036854775809"s}) {
        if (valid[field].isBool() && (value == "true" || value == "null")) continue;
        SCOPED_TRACE(route.path + ' ' + field + ' ' + value);
        const auto response = send(route, replaced(route.body, field, value));
        expectProblem(response, 422, "VALIDATION_FAILED");
        EXPECT_TRUE(rejectedFields(response).contains(field)) << response.body;
      }
  }
}

TEST_F(JunkTest, TextsThatCannotBeStoredAreRefused) {
  for (const auto& route : routesWithBody()) {
    const auto valid = Response{.status = 0, .headers = {}, .body = route.body}.json();
    for (const auto& field : valid.getMemberNames()) {
      if (!valid[field].isString()) continue;
      for (const auto* text :
           {"\\u0000", "12345678\\u0000", "\\ud800", "\\udc00", "12345678\\udfff", "\\ud800\\u0041",
            "\\ud800\\ud800", "\xed\xa0\x80", "12345678\xff"}) {
        SCOPED_TRACE(route.path + ' ' + field + ' ' + text);
        expectProblemBody(send(route, replaced(route.body, field, '"' + std::string(text) + '"')));
      }
    }
  }
}

TEST_F(JunkTest, HugeTextsAreRefusedOnTheirField) {
  const auto huge = '"' + std::string(1'000'000, 'x') + '"';
  for (const auto& route : routesWithBody()) {
    const auto valid = Response{.status = 0, .headers = {}, .body = route.body}.json();
    for (const auto& field : valid.getMemberNames()) {
      const auto response = send(route, replaced(route.body, field, huge));
      expectProblem(response, 422, "VALIDATION_FAILED");
      EXPECT_TRUE(rejectedFields(response).contains(field)) << field;
    }
  }
}

TEST_F(JunkTest, OtherContentTypesAre415) {
  for (const auto& route : routesWithBody()) {
    expectProblem(client.request(route.method, route.path, admin, route.body), 415,
                  "UNSUPPORTED_MEDIA_TYPE");
    for (const auto* type :
         {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
          "application/jsonx", "text/json", "application", "json", ";", "application/xml",
          "x application/json", "application/json, text/plain", "\xff"}) {
      SCOPED_TRACE(route.path + ' ' + type);
      auto headers = admin;
      headers["Content-Type"] = type;
      expectProblem(client.request(route.method, route.path, headers, route.body), 415,
                    "UNSUPPORTED_MEDIA_TYPE");
    }
  }
}

TEST_F(JunkTest, JsonWithACharsetOrInCapitalsIsJson) {
  for (const auto* type :
       {"application/json; charset=utf-8", "APPLICATION/JSON", "application/json ;x=y"}) {
    auto headers = admin;
    headers["Content-Type"] = type;
    expectProblem(client.request("POST", "/announcements", headers, "{}"), 422,
                  "VALIDATION_FAILED");
  }
}

TEST_F(JunkTest, BodiesOverOneMegabyteAre413) {
  constexpr std::size_t kMegabyte = 1024 * 1024;
  for (const auto& route : writeRoutes()) {
    SCOPED_TRACE(route.path);
    const auto padded = (route.body.empty() ? "{}" : route.body) + std::string(kMegabyte, ' ');
    expectProblem(send(route, padded), 413, "BODY_TOO_LARGE");
    expectProblem(client.send(route.method, route.path, padded), 413, "BODY_TOO_LARGE");
  }
  // More than the sockets take: this client, which does not read while it sends, waits until the
  // connection is closed.
  expectProblem(send(writeRoutes().front(), std::string(8 * kMegabyte, '[')), 413,
                "BODY_TOO_LARGE");
  const auto exactly = "{}" + std::string(kMegabyte - 2, ' ');
  expectProblem(client.send("POST", "/announcements", exactly, admin), 422, "VALIDATION_FAILED");
}

TEST_F(JunkTest, ChunkedBodyOverOneMegabyteIs413) {
  const std::string head =
      "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  const auto chunk = "80000\r\n" + std::string(0x80000, ' ') + "\r\n";
  expectProblem(
      answerTo(head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk + "1\r\n \r\n0\r\n\r\n"),
      413, "BODY_TOO_LARGE");
}

TEST_F(JunkTest, IdsThatAreNoPositive64BitNumbersAre400) {
  const std::vector<std::string> junk{"0",
                                      "-1",
                                      "-0",
                                      "+1",
                                      "abc",
                                      "12abc",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "9223372036854775808",
                                      "18446744073709551617",
                                      "%00",
                                      "1%00",
                                      "%001",
                                      "%20",
                                      "%201",
                                      "1%20",
                                      "1%0A",
                                      "1%0D%0A",
                                      "%FF",
                                      "1%FF",
                                      "%ED%A0%80",
                                      "%D9%A1",
                                      "%EF%BC%91",
                                      "%",
                                      "%2",
                                      "%zz",
                                      "1;x=y",
                                      "1,2",
                                      "*",
                                      "..",
                                      "null",
                                      "{id}",
                                      "'",
                                      "1'--",
                                      "1%27%20OR%201=1",
                                      "\"",
                                      "%22",
                                      "<x>",
                                      std::string(5000, '9'),
                                      repeated("%39", 1000)};
  for (const auto& id : junk) {
    SCOPED_TRACE(id.substr(0, 100));
    const auto path = "/announcements/" + id;
    expectProblem(client.send("PATCH", path, R"({"title":"t","content":"c"})", admin), 400,
                  "INVALID_PARAMETER");
    expectProblem(client.send("PATCH", path + "/pin", R"({"pinned":false})", admin), 400,
                  "INVALID_PARAMETER");
    expectProblem(client.request("DELETE", path, admin), 400, "INVALID_PARAMETER");
  }
}

TEST_F(JunkTest, PathsWithoutAnIdAre404) {
  expectProblem(client.request("DELETE", "/announcements/", admin), 404, "ROUTE_NOT_FOUND");
  expectProblem(client.send("PATCH", "/announcements//pin", "{}", admin), 404, "ROUTE_NOT_FOUND");
}

TEST_F(JunkTest, TheLargestIdIs404) {
  const auto path = "/announcements/9223372036854775807";
  expectProblem(client.send("PATCH", path, R"({"title":"t","content":"c"})", admin), 404,
                "ANNOUNCEMENT_NOT_FOUND");
}

TEST_F(JunkTest, QueryStringsChangeNothing) {
  for (const auto& query : {"?"s, "?a"s, "?a=%"s, "?a=%zz"s, "?%00=%00"s, "?%FF=%FF"s, "?=&=&&"s,
                            "?festival=2"s, "?title=t&content=c&isPinned=true&pinned=false&id=1"s,
                            "??"s, "?#"s, "?" + repeated("a=b&", 10'000)}) {
    SCOPED_TRACE(query.substr(0, 50));
    EXPECT_EQ(client.get("/announcements" + query, {{"festival", "1"}}).body, original);
    expectProblem(client.get("/announcements" + query), 400, "INVALID_PARAMETER");
    for (const auto& route : routesWithBody())
      expectProblem(client.send(route.method, route.path + query, R"({"pinned":0})", admin), 422,
                    "VALIDATION_FAILED");
  }
}

TEST_F(JunkTest, FormsAreNotBodies) {
  auto headers = admin;
  headers["Content-Type"] = "multipart/form-data; boundary=b";
  const auto form = "--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nt\r\n--b--\r\n"s;
  for (const auto& route : routesWithBody())
    expectProblem(client.request(route.method, route.path, headers, form), 415,
                  "UNSUPPORTED_MEDIA_TYPE");
}

TEST_F(JunkTest, TokensThatAreNotOursAre401) {
  const auto valid = admin.at("Authorization").substr(7);
  const auto key = secret();
  const auto later = std::time(nullptr) + 3600;
  const auto dot = valid.find('.');
  const auto payload = valid.substr(dot + 1, valid.rfind('.') - dot - 1);
  const auto signature = valid.substr(valid.rfind('.') + 1);
  const auto none = signedWith(JWT_ALG_NONE, "", later);
  const auto other = signedWith(JWT_ALG_HS256, key, later);
  const std::map<std::string, std::string> headers{
      {"empty", ""},
      {"scheme only", "Bearer"},
      {"scheme and space", "Bearer "},
      {"no scheme", valid},
      {"basic", "Basic YWRtaW46YWRtaW4tZGVtby0x"},
      {"basic with a token", "Basic " + valid},
      {"forged secret",
       "Bearer " + signedWith(JWT_ALG_HS256, "another secret of thirty-two bytes", later)},
      {"empty secret", "Bearer " + signedWith(JWT_ALG_HS256, " ", later)},
      {"expired", "Bearer " + signedWith(JWT_ALG_HS256, key, std::time(nullptr) - 1)},
      {"never valid", "Bearer " + signedWith(JWT_ALG_HS256, key, 0)},
      {"negative expiry", "Bearer " + signedWith(JWT_ALG_HS256, key, -5)},
      {"alg none", "Bearer " + none},
      {"alg none without a dot", "Bearer " + none.substr(0, none.rfind('.'))},
      {"alg none with our signature",
       "Bearer " + none.substr(0, none.rfind('.')) + '.' + signature},
      {"HS384", "Bearer " + signedWith(JWT_ALG_HS384, key, later)},
      {"HS512", "Bearer " + signedWith(JWT_ALG_HS512, key, later)},
      {"payload of another", "Bearer " + valid.substr(0, dot) +
                                 other.substr(other.find('.'), other.rfind('.') - other.find('.')) +
                                 '.' + signature},
      {"no signature", "Bearer " + valid.substr(0, valid.rfind('.') + 1)},
      {"no last part", "Bearer " + valid.substr(0, valid.rfind('.'))},
      {"payload only", "Bearer " + payload},
      {"one character short", "Bearer " + valid.substr(0, valid.size() - 1)},
      {"half", "Bearer " + valid.substr(0, valid.size() / 2)},
      {"text behind a space", "Bearer " + valid + " x"},
      {"a fourth part", "Bearer " + valid + ".x"},
      {"dots", "Bearer ..."},
      {"two dots", "Bearer .."},
      {"no base64", "Bearer !!!.???.---"},
      {"bad UTF-8", "Bearer \xff\xfe.\xff.\xff"},
      {"ten kilobytes", "Bearer " + std::string(10 * 1024, 'a')},
      {"ten kilobytes of dots", "Bearer " + std::string(10 * 1024, '.')},
      {"ten kilobytes behind a valid one", "Bearer " + valid + std::string(10 * 1024, 'a')},
  };
  for (const auto& [name, header] : headers)
    for (const auto& route : protectedRoutes()) {
      SCOPED_TRACE(name + " on " + route.method + ' ' + route.path);
      const auto response =
          client.send(route.method, route.path, route.body, {{"Authorization", header}});
      expectProblem(response, 401, "UNAUTHENTICATED");
    }
}

TEST_F(JunkTest, TokensOfOthersAre403) {
  for (const auto& route : protectedRoutes())
    expectProblem(client.send(route.method, route.path, route.body, asUser()), 403, "FORBIDDEN");
}

TEST_F(JunkTest, MethodsWithoutARouteAreRefused) {
  for (const auto* method :
       {"CONNECT", "TRACE", "BREW", "get", "Post", "PROPFIND", "LINK", "X", "DEBUG", "PUT", "COPY"})
    for (const auto& route : writeRoutes()) {
      SCOPED_TRACE(method + (' ' + route.path));
      const auto response = answerTo(method + (' ' + route.path) +
                                     " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
      EXPECT_EQ(response.status, 405);
      expectRefused(response);
    }
  expectRefused(answerTo("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n"));
}

TEST_F(JunkTest, MalformedRequestLinesAreRefused) {
  for (const auto* line :
       {"GET /healthz HTTP/9.9", "GET /healthz HTTP/1.2", "GET /healthz HTTX/1.1",
        "GET /healthz http/1.1", "GET  /healthz HTTP/1.1", "GET /healthz  HTTP/1.1",
        "GET /health z HTTP/1.1", "GET /healthz", "GET /healthz HTTP/1.1 ", "GET", "GET HTTP/1.1",
        " GET /healthz HTTP/1.1", "GARBAGEGARBAGE", "POST healthz HTTP/1.1", "PRI * HTTP/2.0"}) {
    SCOPED_TRACE(line);
    expectRefused(answerTo(line + "\r\nHost: x\r\n\r\n"s));
  }
}

// Drogon makes the path "/" of a target that has none.
TEST_F(JunkTest, ATargetWithoutAPathIsTheFirstPage) {
  const auto first = answerTo("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const auto* target : {"?", "#", "http://", "http://localhost"})
    EXPECT_EQ(answerTo("GET "s + target + " HTTP/1.1\r\nHost: x\r\n\r\n").body, first.body)
        << target;
}

TEST_F(JunkTest, BytesThatAreNotHttpAreRefusedOrDropped) {
  for (const auto& bytes :
       {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 \r\n\r\n"s, std::string(64, '\0'),
        std::string(100'000, 'A'), std::string(100'000, '\n'), "SSH-2.0-OpenSSH_9.2\r\n"s,
        "\xff\xff\xff\xff\xff\xff\xff\xff \xff\xff\r\n\r\n"s, "*1\r\n$4\r\nPING\r\n"s}) {
    const auto response = answerTo(bytes);
    if (response.status != 0) expectRefused(response);
  }
}

TEST_F(JunkTest, AbsoluteFormIsServedLikeThePath) {
  EXPECT_EQ(answerTo("GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").status,
            200);
  for (const auto& route : protectedRoutes()) {
    const auto bytes =
        route.method + " http://elsewhere.example" + route.path +
        " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    expectProblem(answerTo(bytes), 401, "UNAUTHENTICATED");
  }
}

TEST_F(JunkTest, UpgradesAreRefused) {
  const std::string upgrade =
      "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  for (const auto* path : {"/healthz", "/announcements", "/festivals", "/metrics", "/nowhere",
                           "/announcements/1/pin"}) {
    SCOPED_TRACE(path);
    const auto answer = answerTo("GET " + std::string(path) + " HTTP/1.1\r\n" + upgrade + "\r\n");
    expectProblemBody(answer);
    // A proxy that does not know that the connection ends sends the next request there.
    EXPECT_EQ(answer.header("connection"), "close");
  }
  for (const auto& route : writeRoutes()) {
    SCOPED_TRACE(route.path);
    const auto bytes = route.method + ' ' + route.path + " HTTP/1.1\r\n" + upgrade +
                       "Authorization: " + admin.at("Authorization") +
                       "\r\nContent-Type: application/json\r\nContent-Length: " +
                       std::to_string(route.body.size()) + "\r\n\r\n" + route.body;
    expectProblemBody(answerTo(bytes));
  }
}

TEST_F(JunkTest, LengthsThatAreNoNumbersAreRefused) {
  for (const auto* length :
       {"abc", "-1", "18446744073709551615", "18446744073709551616", "9223372036854775808", "1e3",
        "0x", "99999999999", "-", "2, 2", "+2", "2abc"})
    for (const auto& route : writeRoutes()) {
      SCOPED_TRACE(length + (' ' + route.path));
      expectRefused(answerTo(route.method + ' ' + route.path +
                             " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
                             "Content-Length: " + length + "\r\n\r\n{}"));
    }
}

TEST_F(JunkTest, GarbageInChunksIsRefused) {
  for (const auto* chunks :
       {"zz\r\n\r\n", "\r\n\r\n\r\n", "2\r\n{}xx0\r\n\r\n", "0\r\nxx\r\n\r\n",
        "fffffffffffffffff\r\n", "7fffffffffffffff\r\n", "ffffffffffffffff\r\n", "-1\r\n",
        "-2\r\n{}\r\n0\r\n\r\n", "00000000000000000000000000000000000002\r\n{}\r\n0\r\n\r\n",
        "2;a=b\r\n{}\r\n0\r\n\r\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"})
    for (const auto& route : writeRoutes()) {
      SCOPED_TRACE(chunks + (' ' + route.path));
      expectRefused(answerTo(route.method + ' ' + route.path +
                             " HTTP/1.1\r\nHost: x\r\nContent-Type: "
                             "application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
                             chunks));
    }
}

TEST_F(JunkTest, UnknownTransferCodingIsRefused) {
  const auto response = answerTo(
      "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
      "application/json\r\nTransfer-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(response.status, 400);
}

TEST_F(JunkTest, UnusualHeadersDoNotStopTheService) {
  for (const auto& header : {"X: a\0b"s,
                             "X\0: a"s,
                             ": no name"s,
                             "X : space"s,
                             "X:\x01\x02\x7f"s,
                             "X: \xff\xfe"s,
                             "Content-Type: \0"s,
                             "Authorization: Bearer \0"s,
                             "Cookie: ;;;=;=\0"s,
                             "Cookie: a"s,
                             "Expect: the unexpected"s,
                             "Range: bytes=-"s,
                             "If-Modified-Since: never"s,
                             "Accept-Language: \xff"s,
                             "Content-Encoding: gzip"s,
                             "Content-Encoding: br"s,
                             "Host: \xff"s,
                             "Connection: \0"s,
                             "X-Request-Id: \r\tx"s,
                             "festival: \0"s,
                             "Origin: \0"s,
                             "X: " + std::string(60'000, 'x')})
    for (const auto& route : protectedRoutes()) {
      SCOPED_TRACE(header.substr(0, 50) + ' ' + route.path);
      expectRefused(answerTo(route.method + ' ' + route.path + " HTTP/1.1\r\n" + header +
                             "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
    }
}

TEST_F(JunkTest, HeaderWithoutAColonIsRefused) {
  expectRefused(answerTo("GET /healthz HTTP/1.1\r\nHost: x\r\nno colon here\r\nX: y\r\n\r\n"));
}

TEST_F(JunkTest, HeaderOf100KilobytesIsRefused) {
  for (const auto& route : writeRoutes()) {
    expectRefused(answerTo(route.method + ' ' + route.path +
                           " HTTP/1.1\r\nX: " + std::string(100 * 1024, 'x') + "\r\n\r\n"));
    expectRefused(answerTo(route.method + ' ' + route.path + std::string(100 * 1024, 'x') +
                           " HTTP/1.1\r\n\r\n"));
  }
}

TEST_F(JunkTest, NulInTheFestivalHeaderIs400) {
  for (const auto& value : {"1\0"s, "\0001"s, "1\0002"s})
    expectProblem(
        answerTo("GET /announcements HTTP/1.1\r\nHost: x\r\nfestival: " + value + "\r\n\r\n"), 400,
        "INVALID_PARAMETER");
}

TEST_F(JunkTest, UnfinishedRequestsDoNotDelayOtherClients) {
  std::vector<std::unique_ptr<HttpClient>> idlers;
  for (const auto* bytes :
       {"", "P", "POST", "POST /announcements HT", "POST /announcements HTTP/1.1\r\nX",
        "POST /announcements HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"})
    for (int i = 0; i < 20; ++i) {
      idlers.push_back(std::make_unique<HttpClient>(service->port(), 5));
      idlers.back()->sendBytes(bytes);
    }
  expectProblem(client.send("POST", "/announcements", "{}", admin), 422, "VALIDATION_FAILED");
}

// Each on a service of its own: these are known to end a process that is not careful.
class DangerousJunk {
 protected:
  void expectRefusedAndAlive(const std::string& bytes) {
    HttpClient client(service_.port(), 5);
    expectRefused(client.raw(bytes));
    EXPECT_EQ(service_.client().get("/readyz").status, 200);
    EXPECT_TRUE(service_.process().isRunning())
        << "ended with status " << service_.process().wait();
  }

  Service service_{sharedPg().createDatabase(), patient()};
};

class NegativeChunk : public DangerousJunk, public testing::TestWithParam<std::string> {};
class LongId : public DangerousJunk, public testing::TestWithParam<int> {};
class LongPath : public DangerousJunk, public testing::Test {};

TEST_P(NegativeChunk, BehindARealOneIsRefused) {
  expectRefusedAndAlive(
      "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n4\r\n{  }\r\n" +
      GetParam() + "\r\n\r\n0\r\n\r\n");
}

INSTANTIATE_TEST_SUITE_P(Of, NegativeChunk,
                         testing::Values("-1", "-2", "-3", "-4", "fffffffffffffffe",
                                         "-7fffffffffffffff"));

TEST_P(LongId, IsRefusedEvenWithoutAToken) {
  const std::string id(static_cast<std::size_t>(GetParam()), '9');
  for (const auto* rest : {"", "/pin"})
    expectRefusedAndAlive("PATCH /announcements/" + id + rest +
                          " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
}

INSTANTIATE_TEST_SUITE_P(Of, LongId, testing::Values(10'000, 20'000, 30'000, 40'000, 60'000));

TEST_F(LongPath, OfAnyShapeIsRefused) {
  for (const auto& path :
       {"/" + std::string(60'000, 'x'), std::string(60'000, '/'), repeated("/announcements", 4'000),
        "/announcements/" + repeated("%39", 20'000)}) {
    SCOPED_TRACE(path.substr(0, 40));
    expectRefusedAndAlive("PATCH " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  }
}

}  // namespace festa::test
