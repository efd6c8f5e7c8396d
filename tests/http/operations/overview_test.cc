// GET /admin/overview: one process's picture, and the instances' rows.
#include "tests/http/api_test.h"
#include "tests/support/loops.h"

#include <thread>

namespace festa::test {

namespace {

Json::Value overviewOf(const Service& service) {
  auto client = service.client();
  const auto response = client.get("/admin/overview", service.as("admin"));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.header("cache-control"), "no-store");
  return response.json();
}

}  // namespace

TEST(Overview, IsForAdmins) {
  Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  expectProblem(client.get("/admin/overview"), 401, "UNAUTHENTICATED");
  expectProblem(client.get("/admin/overview", service.as("council1")), 403, "FORBIDDEN");
}

TEST(Overview, ShowsAHolderThatStays) {
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  auto slow = lab.newFestival();
  slow["X-Lab-Fault"] = "pause-before-commit=3500";
  std::jthread holder([&] {
    HttpClient client(lab.port());
    client.send("POST", "/announcements", R"({"title":"a","content":"b","isPinned":true})", slow);
  });
  ASSERT_TRUE(eventually([&] { return lab.locked("holding") == 1; }));
  const auto during = overviewOf(lab);
  EXPECT_EQ(during["locks"]["holding"].asInt(), 1);
  ASSERT_EQ(during["locks"]["rows"].size(), 1U);
  EXPECT_EQ(during["locks"]["rows"][0]["state"].asString(), "holding");
  EXPECT_EQ(during["locks"]["rows"][0]["lockable"].asString(), "announcement-pins");
  holder.join();
  const auto after = overviewOf(lab);
  EXPECT_EQ(after["locks"]["holding"].asInt(), 0);
  std::uint64_t holds = 0;
  const auto& bounds = after["histograms"]["boundsMicros"];
  const auto& counts = after["histograms"]["holds"];
  EXPECT_EQ(counts.size(), bounds.size() + 1);
  for (Json::ArrayIndex i = 0; i < bounds.size(); ++i)
    if (bounds[i].asInt64() > 1'000'000) holds += counts[i].asUInt64();
  EXPECT_GE(holds, 1U) << "the long hold is not in the histogram";
}

TEST(Overview, SaysWhichServersAnswer) {
  Service service(sharedPg().createDatabase(), patient());
  const auto overview = overviewOf(service);
  EXPECT_EQ(overview["health"]["database"].asString(), "up");
  EXPECT_EQ(overview["health"]["redis"].asString(), "none");
  EXPECT_EQ(overview["health"]["broker"].asString(), "none");
  EXPECT_GT(overview["door"]["requests"]["limit"].asInt64(), 0);
  EXPECT_GT(overview["door"]["holders"]["limit"].asInt64(), 0);
}

TEST(Overview, InstancesKnowOfEachOtherAndForgetTheDead) {
  const auto database = sharedPg().createDatabase();
  Service first(database, patient());
  PgSession session(database);
  session.run(
      "INSERT INTO instances VALUES ('dead:1', now() - interval '1 hour', now() - interval '2 "
      "minutes', 0, 0, 0)");
  Service second(database, patient());
  const auto own = [](const Service& service) {
    return overviewOf(service)["instance"].asString();
  };
  const std::set<std::string> alive{own(first), own(second)};
  for (const auto* const service : {&first, &second})
    EXPECT_TRUE(eventually([&] {
      std::set<std::string> names;
      const auto overview = overviewOf(*service);
      for (const auto& row : overview["instances"]) names.insert(row["name"].asString());
      return names == alive;
    }));
}

}  // namespace festa::test
