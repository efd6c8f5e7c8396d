#include "tests/http/api_test.h"
#include "tests/support/http/rush.h"

namespace festa::test {

namespace {

const std::string kPassword = "right-password-1";

class UserApi : public ApiTest {
 protected:
  std::string name = "user-of-" + std::to_string(festival);

  std::string newUser(const std::string& field = "", const std::string& value = "") const {
    Json::Value user;
    user["userId"] = name;
    user["userPw"] = kPassword;
    user["name"] = "김축제";
    user["age"] = 21;
    user["email"] = "festa@example.com";
    user["phone"] = "010-1234-5678";
    auto text = user.toStyledString();
    if (field.empty()) return text;
    // The value as it is written in JSON; of two equal names a strict parser would complain.
    user.removeMember(field);
    text = user.toStyledString();
    return text.substr(0, text.rfind('}')) + ",\"" + field + "\":" + value + "}";
  }
  Response create() { return client.send("POST", "/users", newUser()); }
  Response login(const std::string& user, const std::string& password) {
    return client.send("POST", "/users/login",
                       R"({"userId":")" + user + R"(","userPw":")" + password + R"("})");
  }
};

}  // namespace

TEST_F(UserApi, AnyoneRegistersAndIsAnsweredInAnEnvelope) {
  const auto response = create();
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.body, R"({"content":{"userId":")" + name +
                               R"(","name":"김축제","age":21,"email":"festa@example.com",)"
                               R"("phone":"010-1234-5678","role":"ROLE_USER"},)"
                               R"("meta":{"result":"ok","errorCode":null,"errorMessage":null}})");
  EXPECT_EQ(inDatabase("SELECT name || age || email || phone || role FROM users WHERE login = $1",
                       {name}),
            "김축제21festa@example.com010-1234-5678ROLE_USER");
}

TEST_F(UserApi, PasswordsAreStoredWithArgon2id) {
  create();
  const auto hash = inDatabase("SELECT password_hash FROM users WHERE login = $1", {name});
  EXPECT_THAT(hash, testing::StartsWith("$argon2id$"));
}

TEST_F(UserApi, LoginAnswers201WithoutEnvelopeAndATokenOfAUser) {
  create();
  const auto response = login(name, kPassword);
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(namesIn(response.json()), (std::set<std::string>{"id", "accessToken"}));
  const auto caller = TokenService(secret(), std::chrono::hours(1))
                          .verify(response.json()["accessToken"].asString());
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->login, name);
  EXPECT_EQ(caller->uid, response.json()["id"].asInt64());
  EXPECT_EQ(caller->realm, Realm::kUser);
  EXPECT_EQ(caller->festivalId, std::nullopt);
  EXPECT_EQ(caller->roles, std::vector<std::string>{"ROLE_USER"});
  EXPECT_EQ(std::to_string(caller->uid),
            inDatabase("SELECT id FROM users WHERE login = $1", {name}));
}

TEST_F(UserApi, DemoUsersLogIn) {
  EXPECT_EQ(login("user1", "user-demo-1").status, 201);
  EXPECT_EQ(login("user100", "user-demo-1").status, 201);
}

TEST_F(UserApi, WrongPasswordAndUnknownNameGetTheSameAnswer) {
  create();
  const auto wrong = login(name, "wrong-password-1");
  expectProblem(wrong, 401, "WRONG_CREDENTIALS");
  EXPECT_EQ(login("nobody-of-" + std::to_string(festival), kPassword).body, wrong.body);
  expectProblem(login("admin", "admin-demo-1"), 401, "WRONG_CREDENTIALS");
}

TEST_F(UserApi, ATakenNameIs409AndItsOwnerKeepsThePassword) {
  create();
  expectProblem(client.send("POST", "/users", newUser("userPw", R"("another-password-2")")), 409,
                "ALREADY_REGISTERED_USER");
  EXPECT_EQ(login(name, kPassword).status, 201);
  EXPECT_EQ(inDatabase("SELECT count(*) FROM users WHERE login = $1", {name}), "1");
}

TEST_F(UserApi, OfManyRegistrationsOfOneNameAtOnceOneSucceeds) {
  const auto answers = rush(service->port(), 8, [&](HttpClient& rusher, int) {
    return rusher.send("POST", "/users", newUser());
  });
  EXPECT_EQ(countByStatus(answers), (std::map<int, int>{{200, 1}, {409, 7}}));
  for (const auto& answer : answers)
    if (answer.status == 409) expectProblem(answer, 409, "ALREADY_REGISTERED_USER");
}

TEST_F(UserApi, EachWrongFieldIsNamedOnce) {
  const auto response = client.send("POST", "/users", "{}");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response),
            (std::set<std::string>{"userId", "userPw", "name", "age", "email", "phone"}));
  EXPECT_EQ(response.json()["errors"].size(), 6U);
  const auto ofLogin = client.send("POST", "/users/login", "{}");
  expectProblem(ofLogin, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(ofLogin), (std::set<std::string>{"userId", "userPw"}));
}

TEST_F(UserApi, ValuesBeyondTheirLimitsAre422OnTheirField) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"userId", '"' + repeated("가", 51) + '"'},
      {"userId", "\" \""},
      {"userId", "7"},
      {"userPw", "\"1234567\""},
      {"userPw", '"' + repeated("p", 129) + '"'},
      {"name", '"' + repeated("n", 51) + '"'},
      {"age", "-1"},
      {"age", "151"},
      {"age", "20.5"},
      {"age", "\"20\""},
      {"email", "\"nobody\""},
      {"email", "\"@example.com\""},
      {"email", "\"nobody@\""},
      {"email", "\"a@b@c\""},
      {"email", "\"a@" + repeated("b", 253) + '"'},
      {"phone", '"' + repeated("0", 31) + '"'},
      {"phone", "\"\""},
      {"phone", "1012345678"}};
  for (const auto& [field, value] : wrong) {
    SCOPED_TRACE(field + ": " + value);
    const auto response = client.send("POST", "/users", newUser(field, value));
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{field});
  }
  EXPECT_EQ(inDatabase("SELECT count(*) FROM users WHERE login = $1", {name}), "0");
}

TEST_F(UserApi, AWholeNumberIsAnAgeHoweverItIsWritten) {
  for (const auto* age : {"25", "25.0", "2.5e1", "250e-1", "25.000"}) {
    SCOPED_TRACE(age);
    name += 'x';
    const auto response = client.send("POST", "/users", newUser("age", age));
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_THAT(response.body, testing::HasSubstr(R"("age":25,)"));
  }
  for (const auto* age :
       {"25.5", "25.0000000000000000000000001", "1e9", "1e300", "1e-400", "-0.5"}) {
    SCOPED_TRACE(age);
    const auto response = client.send("POST", "/users", newUser("age", age));
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"age"});
  }
  for (const auto* age : {"1e400", "-1e400", "1e99999999999999999999"})
    EXPECT_EQ(client.send("POST", "/users", newUser("age", age)).status / 100, 4) << age;
  EXPECT_EQ(client.get("/healthz").status, 200);
}

TEST_F(UserApi, ValuesAtTheirLimitsAreAccepted) {
  name = repeated("가", 40) + std::to_string(1'000'000'000 + festival);
  EXPECT_EQ(client.send("POST", "/users", newUser("age", "0")).status, 200);
  name.back() = 'x';
  EXPECT_EQ(client.send("POST", "/users", newUser("age", "150")).status, 200);
  name.back() = 'y';
  EXPECT_EQ(
      client.send("POST", "/users", newUser("email", "\"a@" + repeated("b", 252) + '"')).status,
      200);
}

TEST_F(UserApi, MalformedRequestsAreRefusedWithMeta) {
  for (const auto* path : {"/users", "/users/login"}) {
    SCOPED_TRACE(path);
    expectProblem(client.send("POST", path, "{"), 400, "MALFORMED_JSON");
    expectProblem(client.send("POST", path, "[]"), 400, "MALFORMED_JSON");
    expectProblem(client.request("POST", path, {{"Content-Type", "text/plain"}}, "{}"), 415,
                  "UNSUPPORTED_MEDIA_TYPE");
    expectProblem(client.send("POST", path, std::string(1024 * 1024 + 1, ' ')), 413,
                  "BODY_TOO_LARGE");
    const auto response = client.get(path);
    expectProblem(response, 405, "METHOD_NOT_ALLOWED");
    EXPECT_EQ(response.header("allow"), "POST");
  }
  expectProblem(client.get("/users/1"), 404, "ROUTE_NOT_FOUND");
}

TEST_F(UserApi, MorePasswordsThanCanBeHashedAre503) {
  const Service small(sharedPg().createDatabase(),
                      patient({{"AUTH_HASH_THREADS", "1"}, {"AUTH_HASH_QUEUE", "1"}}));
  const auto answers = rush(small.port(), 16, [](HttpClient& rusher, int i) {
    return rusher.send(
        "POST", "/users/login",
        R"({"userId":"user)" + std::to_string(i + 1) + R"(","userPw":"user-demo-1"})");
  });
  auto counts = countByStatus(answers);
  EXPECT_GT(counts[201], 0);
  EXPECT_GT(counts[503], 0);
  EXPECT_EQ(counts[201] + counts[503], 16);
  for (const auto& answer : answers) {
    if (answer.status != 503) continue;
    expectProblem(answer, 503, "OVERLOADED");
    EXPECT_FALSE(answer.header("retry-after").empty());
  }
}

}  // namespace festa::test
