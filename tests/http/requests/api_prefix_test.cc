// A leading /api, which festabook's clients send and some proxies do not strip.
#include "tests/http/api_test.h"
#include "tests/support/http/sales.h"

namespace festa::test {

namespace {

class ApiPrefix : public ApiTest {
 protected:
  Response festivalAt(const std::string& path) {
    return client.get(path, {{"festival", std::to_string(festival)}});
  }
};

}  // namespace

TEST_F(ApiPrefix, IsIgnoredOnEveryRoute) {
  const auto plain = festivalAt("/festivals");
  ASSERT_EQ(plain.status, 200);
  for (const auto* path : {"/api/festivals", "/%61pi/festivals", "/api/festivals?x=1"})
    EXPECT_EQ(festivalAt(path).body, plain.body) << path;
  const auto created =
      call("POST", "/api/announcements", R"({"title":"t","content":"c","isPinned":true})");
  ASSERT_EQ(created.status, 201) << created.body;
  const auto path = "/api/announcements/" + created.json()["announcementId"].asString();
  EXPECT_EQ(call("PATCH", path + "/pin", R"({"pinned":false})").status, 200);
  EXPECT_EQ(call("DELETE", path).status, 204);
  EXPECT_EQ(client.get("/api/healthz").status, 200);
  EXPECT_EQ(client.get("/api/docs").status, 200);
}

TEST_F(ApiPrefix, OnlyOneWholeLeadingSegmentIsIgnored) {
  for (const auto* path :
       {"/apifestivals", "/apifoo", "/api//festivals", "/API/festivals", "/Api/festivals",
        "//api/festivals", "/api/api/festivals", "/festivals/api", "/api.", "/api/festivals/",
        "/api/..", "/api/../festivals", "/apis/festivals"}) {
    SCOPED_TRACE(path);
    const auto response = festivalAt(path);
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.code(), "ROUTE_NOT_FOUND");
  }
}

TEST_F(ApiPrefix, ThePrefixAloneIsTheFirstPage) {
  for (const auto* path : {"/api", "/api/"}) EXPECT_EQ(client.get(path).body, client.get("/").body);
}

TEST_F(ApiPrefix, WrongMethodsAndBadIdsAreAnsweredAsWithoutIt) {
  const auto wrongMethod = client.request("PUT", "/api/announcements");
  EXPECT_EQ(wrongMethod.code(), "METHOD_NOT_ALLOWED");
  EXPECT_EQ(wrongMethod.header("allow"), client.request("PUT", "/announcements").header("allow"));
  EXPECT_EQ(client.get("/api/performances/x").code(), "INVALID_PARAMETER");
  EXPECT_EQ(client.request("OPTIONS", "/api/announcements/7").header("allow"), "PATCH, DELETE");
}

TEST_F(ApiPrefix, ProblemsAreThoseOfThePathWithoutIt) {
  for (const auto* path : {"/performances/999999999", "/users", "/nowhere", "/coupons/999999999"}) {
    const auto prefixed = client.get(std::string("/api") + path);
    expectProblem(prefixed, prefixed.status, prefixed.code());
    EXPECT_EQ(prefixed.body, client.get(path).body);
  }
}

TEST_F(ApiPrefix, MetricsAndLogCountTheRouteWithoutIt) {
  ASSERT_EQ(client.get("/api/coupons/1", {{"X-Request-Id", "with-a-prefix"}}).status, 200);
  const auto metrics = service->metrics();
  EXPECT_THAT(metrics, testing::HasSubstr(R"(route="/coupons/{id}")"));
  EXPECT_EQ(metrics.find("/api"), std::string::npos);
}

TEST_F(ApiPrefix, ARepetitionWithoutItIsTheSameRequest) {
  auto headers = council;
  headers["Idempotency-Key"] = "prefixed-" + std::to_string(festival);
  const std::string body = R"({"title":"t","content":"c","isPinned":false})";
  const auto first = client.send("POST", "/api/announcements", body, headers);
  ASSERT_EQ(first.status, 201) << first.body;
  const auto second = client.send("POST", "/announcements", body, headers);
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(second.body, first.body);
}

TEST_F(ApiPrefix, LocationsHaveItWhenTheRequestHadIt) {
  const Service queued(sharedPg().createDatabase(),
                       patient({{"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"}}));
  auto buyer = queued.client();
  for (const std::string prefix : {"/api", ""}) {
    const auto coupon = std::to_string(Sales(queued.database()).coupon(1, false));
    const auto claimed =
        buyer.request("POST", prefix + "/coupons/" + coupon + "/claims", Sales::as(1));
    ASSERT_EQ(claimed.status, 202) << claimed.body;
    EXPECT_EQ(claimed.header("location"),
              prefix + "/coupons/claims/" + claimed.json()["claimId"].asString());
    EXPECT_EQ(buyer.get(claimed.header("location"), Sales::as(1)).status, 200);
  }
}

TEST(ApiPrefixSetting, CanBeAnotherOneOrNone) {
  // Raw: the OpenAPI document, which other exchanges are compared with, knows the usual one only.
  const auto statusAt = [](const Service& service, const std::string& path) {
    return service.client().raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").status;
  };
  const Service other(sharedPg().createDatabase(), {{"HTTP_API_PREFIX", "/festa/v1"}});
  EXPECT_EQ(statusAt(other, "/festa/v1/healthz"), 200);
  EXPECT_EQ(statusAt(other, "/healthz"), 200);
  EXPECT_EQ(statusAt(other, "/api/healthz"), 404);
  EXPECT_EQ(statusAt(other, "/festa/healthz"), 404);
  const Service none(sharedPg().createDatabase(), {{"HTTP_API_PREFIX", ""}});
  EXPECT_EQ(statusAt(none, "/healthz"), 200);
  EXPECT_EQ(statusAt(none, "/api/healthz"), 404);
}

TEST(ApiPrefixSetting, OneThatWouldHideARouteOrIsNoPathStopsTheStart) {
  for (const auto* prefix :
       {"api", "/api/", "/", "/a//b", "/users", "/coupons/claims", "/a b", "/a?b", "/a%62"}) {
    const auto start = tryStart(sharedPg().createDatabase(), {{"HTTP_API_PREFIX", prefix}});
    EXPECT_EQ(start.status, 1) << prefix;
    EXPECT_THAT(start.output, testing::HasSubstr("'http.api_prefix'")) << prefix;
  }
}

}  // namespace festa::test
