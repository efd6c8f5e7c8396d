#include "tests/http/api_test.h"

namespace festa::test {

namespace {

const std::string kPassword = "right-password-1";

class CouncilApi : public ApiTest {
 protected:
  std::string name = "new-council-of-" + std::to_string(festival);

  std::string newCouncil(std::int64_t festivalId) const {
    return R"({"festivalId":)" + std::to_string(festivalId) + R"(,"username":")" + name +
           R"(","password":")" + kPassword + R"("})";
  }
  std::int64_t create() {
    const auto response = asAdmin("POST", "/councils", newCouncil(festival));
    EXPECT_EQ(response.status, 201) << response.body;
    return response.json()["councilId"].asInt64();
  }
  Response login(const std::string& username, const std::string& password) {
    return client.send("POST", "/councils/login",
                       R"({"username":")" + username + R"(","password":")" + password + R"("})");
  }
  Headers loggedIn() { return bearing(login(name, kPassword).json()["accessToken"].asString()); }
  Response changePassword(const std::string& current, const std::string& replacement,
                          const Headers& headers) {
    return client.send(
        "PATCH", "/councils/password",
        R"({"currentPassword":")" + current + R"(","newPassword":")" + replacement + R"("})",
        headers);
  }
};

}  // namespace

TEST_F(CouncilApi, LoginAnswers201WithExactlyFestivalAndToken) {
  create();
  const auto response = login(name, kPassword);
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(namesIn(response.json()), (std::set<std::string>{"festivalId", "accessToken"}));
  EXPECT_EQ(response.json()["festivalId"].asInt64(), festival);
}

TEST_F(CouncilApi, TokenOfALoginCarriesItsClaimsAndWorks) {
  const auto id = create();
  const auto token = login(name, kPassword).json()["accessToken"].asString();
  const auto caller = TokenService(secret(), std::chrono::hours(1)).verify(token);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->login, name);
  EXPECT_EQ(caller->uid, id);
  EXPECT_EQ(caller->realm, Realm::kCouncil);
  EXPECT_EQ(caller->festivalId, festival);
  EXPECT_EQ(caller->roles, std::vector<std::string>{"ROLE_COUNCIL"});
  const auto write = client.send("POST", "/announcements",
                                 R"({"title":"t","content":"c","isPinned":true})", bearing(token));
  EXPECT_EQ(write.status, 201) << write.body;
}

TEST_F(CouncilApi, DemoAdminLogsInToFestivalOne) {
  const auto response = login("admin", "admin-demo-1");
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(response.json()["festivalId"].asInt64(), 1);
  const auto token = bearing(response.json()["accessToken"].asString());
  EXPECT_EQ(client.send("POST", "/councils", newCouncil(festival), token).status, 201);
}

TEST_F(CouncilApi, WrongPasswordAndUnknownNameGetTheSameAnswer) {
  create();
  const auto wrong = login(name, "wrong-password-1");
  const auto unknown = login("nobody-of-" + std::to_string(festival), kPassword);
  const auto withoutHash = login("council-of-" + std::to_string(festival), kPassword);
  expectProblem(wrong, 401, "WRONG_CREDENTIALS");
  EXPECT_EQ(unknown.status, wrong.status);
  EXPECT_EQ(unknown.body, wrong.body);
  EXPECT_EQ(withoutHash.body, wrong.body);
}

TEST_F(CouncilApi, LoginNamesWhatIsMissing) {
  const auto response = client.send("POST", "/councils/login", "{}");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), (std::set<std::string>{"username", "password"}));
}

TEST_F(CouncilApi, AdminCreatesACouncil) {
  const auto response = asAdmin("POST", "/councils", newCouncil(festival));
  ASSERT_EQ(response.status, 201) << response.body;
  const auto json = response.json();
  EXPECT_EQ(namesIn(json), (std::set<std::string>{"councilId", "username", "roleTypes"}));
  EXPECT_TRUE(json["councilId"].isInt64());
  EXPECT_EQ(json["username"].asString(), name);
  ASSERT_EQ(json["roleTypes"].size(), 1U);
  EXPECT_EQ(json["roleTypes"][0].asString(), "ROLE_COUNCIL");
}

TEST_F(CouncilApi, PasswordsAreStoredWithArgon2id) {
  create();
  const auto hash = inDatabase("SELECT password_hash FROM councils WHERE username = $1", {name});
  EXPECT_THAT(hash, testing::StartsWith("$argon2id$"));
  EXPECT_EQ(hash.find(kPassword), std::string::npos);
}

TEST_F(CouncilApi, OnlyAnAdminCreatesCouncils) {
  expectProblem(client.send("POST", "/councils", newCouncil(festival)), 401, "UNAUTHENTICATED");
  expectProblem(call("POST", "/councils", newCouncil(festival)), 403, "FORBIDDEN");
  expectProblem(client.send("POST", "/councils", newCouncil(festival), asUser()), 403, "FORBIDDEN");
  EXPECT_EQ(inDatabase("SELECT count(*) FROM councils WHERE username = $1", {name}), "0");
}

TEST_F(CouncilApi, ATakenNameIs409AndItsOwnerKeepsThePassword) {
  create();
  service->newFestival();
  expectProblem(asAdmin("POST", "/councils", newCouncil(festival)), 409,
                "ALREADY_REGISTERED_COUNCIL");
  expectProblem(asAdmin("POST", "/councils", newCouncil(service->lastFestival())), 409,
                "ALREADY_REGISTERED_COUNCIL");
  EXPECT_EQ(login(name, kPassword).json()["festivalId"].asInt64(), festival);
}

TEST_F(CouncilApi, CouncilOfAnUnknownFestivalIs404) {
  expectProblem(asAdmin("POST", "/councils", newCouncil(999'999'999)), 404, "FESTIVAL_NOT_FOUND");
}

TEST_F(CouncilApi, CreatingNamesEveryWrongField) {
  const auto response =
      asAdmin("POST", "/councils", R"({"festivalId":"1","username":" ","password":"short"})");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response),
            (std::set<std::string>{"festivalId", "username", "password"}));
}

TEST_F(CouncilApi, ChangedPasswordLogsInAndTheOldOneDoesNot) {
  const auto id = create();
  const auto response = changePassword(kPassword, "another-password-2", loggedIn());
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(namesIn(response.json()), (std::set<std::string>{"councilId", "username"}));
  EXPECT_EQ(response.json()["councilId"].asInt64(), id);
  EXPECT_EQ(response.json()["username"].asString(), name);
  EXPECT_EQ(login(name, "another-password-2").status, 201);
  expectProblem(login(name, kPassword), 401, "WRONG_CREDENTIALS");
}

TEST_F(CouncilApi, WrongCurrentPasswordIs422OnThatFieldAndChangesNothing) {
  create();
  const auto response = changePassword("wrong-password-1", "another-password-2", loggedIn());
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), std::set<std::string>{"currentPassword"});
  EXPECT_EQ(login(name, kPassword).status, 201);
}

TEST_F(CouncilApi, ShortNewPasswordIs422OnThatField) {
  create();
  const auto response = changePassword(kPassword, "short", loggedIn());
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), std::set<std::string>{"newPassword"});
}

TEST_F(CouncilApi, ChangingAPasswordNeedsACouncilOrAnAdmin) {
  expectProblem(changePassword(kPassword, "another-password-2", {}), 401, "UNAUTHENTICATED");
  expectProblem(changePassword(kPassword, "another-password-2", asUser()), 403, "FORBIDDEN");
}

}  // namespace festa::test
