// Login names: one spelling, nothing that cannot be seen.
#include "app/startup/migrator.h"
#include "services/accounts/password_hasher.h"
#include "tests/http/api_test.h"

namespace festa::test {

namespace {

const std::string kPassword = "right-password-1";

// "각한é" composed and decomposed.
const std::string kComposed = "\uac01\ud55c\u00e9";
const std::string kDecomposed = "\u1100\u1161\u11a8\u1112\u1161\u11ab\u0065\u0301";

class LoginNames : public ApiTest {
 protected:
  Response newUser(const std::string& login, const std::string& email = "a@example.com") {
    return client.send("POST", "/users",
                       R"({"userId":")" + login + R"(","userPw":")" + kPassword +
                           R"(","name":"n","age":20,"email":")" + email + R"(","phone":"010"})");
  }
  Response newCouncil(const std::string& username) {
    return asAdmin(
        "POST", "/councils",
        R"({"festivalId":1,"username":")" + username + R"(","password":")" + kPassword + R"("})");
  }
  Response userLogin(const std::string& login, const std::string& password = kPassword) {
    return client.send("POST", "/users/login",
                       R"({"userId":")" + login + R"(","userPw":")" + password + R"("})");
  }
  Response councilLogin(const std::string& username) {
    return client.send("POST", "/councils/login",
                       R"({"username":")" + username + R"(","password":")" + kPassword + R"("})");
  }
  // Equal names of several tests would be taken.
  std::string own(const std::string& name) const { return name + std::to_string(festival); }
};

}  // namespace

TEST_F(LoginNames, AreStoredAndAnsweredInNfc) {
  const auto user = newUser(own(kDecomposed));
  ASSERT_EQ(user.status, 200) << user.body;
  EXPECT_EQ(user.json()["content"]["userId"].asString(), own(kComposed));
  EXPECT_EQ(inDatabase("SELECT count(*) FROM users WHERE login = $1", {own(kComposed)}), "1");
  const auto created = newCouncil(own(kDecomposed));
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created.json()["username"].asString(), own(kComposed));
  EXPECT_EQ(inDatabase("SELECT count(*) FROM councils WHERE username = $1", {own(kComposed)}), "1");
}

TEST_F(LoginNames, EverySpellingLogsIn) {
  ASSERT_EQ(newUser(own(kComposed)).status, 200);
  ASSERT_EQ(newCouncil(own(kComposed)).status, 201);
  for (const auto& name : {kComposed, kDecomposed}) {
    EXPECT_EQ(userLogin(own(name)).status, 201);
    EXPECT_EQ(councilLogin(own(name)).status, 201);
  }
  const auto token = councilLogin(own(kDecomposed)).json()["accessToken"].asString();
  const auto caller = TokenService(secret(), std::chrono::hours(1)).verify(token);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->login, own(kComposed));
}

TEST_F(LoginNames, AnotherSpellingOfATakenNameIsTaken) {
  ASSERT_EQ(newUser(own(kComposed)).status, 200);
  expectProblem(newUser(own(kDecomposed)), 409, "ALREADY_REGISTERED_USER");
  ASSERT_EQ(newCouncil(own(kDecomposed)).status, 201);
  expectProblem(newCouncil(own(kComposed)), 409, "ALREADY_REGISTERED_COUNCIL");
}

TEST_F(LoginNames, WithInvisibleCharactersAre422OnTheirField) {
  for (const auto* bad :
       {"a\\u0000b",    "a\\u0007b", "a\\nb",        "a\\tb",        "a\\r\\nb", "a\\u007fb",
        "a\\u0085b",    "a\u202eb",  "a\u2066b",     "a\u200fb",     "a\u061cb", "a\u200bb",
        "a\u200db",     "a\u00adb",  "a\ufeffb",     "a\u2028b",     "a\u2029b", "a\u3164b",
        "a\u115fb",     "a\ufe0fb",  "a\U000e0041b", "a\U000e0100b", "a\ue000b", "a\uffffb",
        "a\U0010ffffb", " a",        "a ",           "\u3000a",      "a\u00a0",  "a\u2003"}) {
    SCOPED_TRACE(bad);
    const auto user = newUser(bad);
    expectProblem(user, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(user), std::set<std::string>{"userId"});
    EXPECT_EQ(user.json()["errors"].size(), 1U);
    const auto refused = newCouncil(bad);
    expectProblem(refused, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(refused), std::set<std::string>{"username"});
  }
}

TEST_F(LoginNames, OfEveryScriptAreTaken) {
  for (const auto* good : {"김축제", "Ødegård", "Ελλάς", "मनीष", "علي", "שלום", "山田 太郎", "😀",
                           "a.b+c@d", "O'Neil \\\"x\\\""})
    EXPECT_EQ(newUser(good + std::to_string(festival)).status, 200) << good;
}

TEST_F(LoginNames, AreAsLongAsTheirNfc) {
  const auto longest = [&](const std::string& syllable) {
    return repeated(syllable, 40) + std::to_string(1'000'000'000 + festival);
  };
  ASSERT_EQ(newUser(longest("\u1100\u1161\u11a8")).status, 200);
  EXPECT_EQ(userLogin(longest("\u1100\u1161\u11a8")).status, 201);
  EXPECT_EQ(userLogin(longest("\uac01")).status, 201);
  const auto tooLong = newUser(longest("\u1100\u1161\u11a8") + 'x');
  expectProblem(tooLong, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(tooLong), std::set<std::string>{"userId"});
}

// Canonical ordering takes quadratic time in libraries that sort marks by insertion.
TEST_F(LoginNames, ManyCombiningMarksAreRefusedQuickly) {
  const auto marks = "a" + repeated("\u0301\u0323", 240'000);
  const auto start = std::chrono::steady_clock::now();
  expectProblem(newUser(marks), 422, "VALIDATION_FAILED");
  expectProblem(userLogin(marks), 422, "VALIDATION_FAILED");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST_F(LoginNames, ALoginWithAnInvalidNameIsWrongCredentials) {
  for (const auto* name : {"user1 ", " user1", "user1\u200b", "us\u202eer1"})
    expectProblem(userLogin(name, "user-demo-1"), 401, "WRONG_CREDENTIALS");
}

TEST_F(LoginNames, EmailsWithControlCharactersAre422) {
  for (const auto* email : {"a@example.com\\r\\nBcc: b@example.com", "a\\n@example.com",
                            "a@example.com\\n", "a\\t@example.com", "a\\u007f@example.com",
                            "a\\u0085@example.com", "a\u202e@example.com", "a\u2028@example.com"}) {
    SCOPED_TRACE(email);
    const auto response = newUser(own("mail"), email);
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"email"});
  }
  EXPECT_EQ(newUser(own("mail"), "김@예시.example").status, 200);
}

namespace {

// A database as an older version left it, before names were normalised.
Config::Database olderDatabase(const std::vector<std::pair<std::string, std::string>>& users) {
  const auto database = sharedPg().createDatabase(false);
  PgSession session(database);
  const auto& all = builtInMigrations();
  migrate(session, {all.begin(), all.begin() + 5});
  for (const auto& [login, password] : users)
    session.query(
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " VALUES ($1, $2, 'n', 20, 'a@example.com', '010')",
        {login, PasswordHasher::hashNow(password)});
  return database;
}

int loginAt(const Service& service, const std::string& login, const std::string& password) {
  return service.client()
      .send("POST", "/users/login",
            R"({"userId":")" + login + R"(","userPw":")" + password + R"("})")
      .status;
}

}  // namespace

TEST(LoginNamesOfOlderVersions, AreNormalisedWhereTheNameIsFree) {
  const Service service(olderDatabase({{kDecomposed, kPassword}}), patient());
  EXPECT_EQ(loginAt(service, kComposed, kPassword), 201);
  EXPECT_EQ(loginAt(service, kDecomposed, kPassword), 201);
}

TEST(LoginNamesOfOlderVersions, AccountsWithSpellingsOfOneNameStayApart) {
  const std::string half = "\u1100\u1161\u11a8\ud55c\u00e9";  // a third spelling
  const Service service(
      olderDatabase({{kDecomposed, "password-1"}, {kComposed, "password-2"}, {half, "password-3"}}),
      patient());
  EXPECT_EQ(loginAt(service, kDecomposed, "password-1"), 201);
  EXPECT_EQ(loginAt(service, kComposed, "password-2"), 201);
  EXPECT_EQ(loginAt(service, half, "password-3"), 201);
  EXPECT_EQ(loginAt(service, kComposed, "password-1"), 401);
  EXPECT_EQ(loginAt(service, kDecomposed, "password-2"), 401);
}

TEST(LoginNamesOfOlderVersions, TheOldestOfTwoSpellingsGetsTheName) {
  const std::string half = "\u1100\u1161\u11a8\ud55c\u00e9";
  const Service service(olderDatabase({{half, "password-1"}, {kDecomposed, "password-2"}}),
                        patient());
  EXPECT_EQ(loginAt(service, kComposed, "password-1"), 201);
  EXPECT_EQ(loginAt(service, half, "password-1"), 201);
  EXPECT_EQ(loginAt(service, kDecomposed, "password-2"), 201);
}

TEST(LoginNamesOfOlderVersions, NamesThatWouldBeRefusedTodayStillLogIn) {
  const Service service(olderDatabase({{"kim ", kPassword}, {"lee\u200b", kPassword}}), patient());
  EXPECT_EQ(loginAt(service, "kim ", kPassword), 201);
  EXPECT_EQ(loginAt(service, "lee\u200b", kPassword), 201);
  EXPECT_EQ(loginAt(service, "kim", kPassword), 401);
}

}  // namespace festa::test
