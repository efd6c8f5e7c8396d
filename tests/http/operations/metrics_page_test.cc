// /metrics is rendered now and then, not for every request.
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

// 0 when it does not say.
double renderedAt(const std::string& text) {
  static const std::string kName = "\nfesta_metrics_rendered_timestamp_seconds ";
  const auto at = text.find(kName);
  return at == std::string::npos ? 0 : std::stod(text.substr(at + kName.size()));
}

}  // namespace

TEST(MetricsText, IsRenderedAtMostOnceASecondHoweverManyAsk) {
  const Service service(sharedPg().createDatabase(), patient());
  std::mutex mutex;
  std::set<double> renderings;
  std::atomic<int> answers{0};
  std::vector<std::jthread> readers;
  std::atomic<bool> isEnough{false};
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      auto client = service.client();
      while (!isEnough) {
        const auto text = client.get("/metrics").body;
        ++answers;
        const std::lock_guard guard(mutex);
        renderings.insert(renderedAt(text));
        isEnough = isEnough || renderings.size() >= 4;
      }
    });
  EXPECT_TRUE(eventually([&] { return isEnough.load(); })) << "it is never rendered again";
  isEnough = true;
  readers.clear();
  EXPECT_GT(answers, 100) << "too few requests";
  for (auto at = renderings.begin(); std::next(at) != renderings.end(); ++at)
    EXPECT_GE(*std::next(at) - *at, 0.99);
}

TEST(MetricsText, HasWhatHappenedSecondsAgo) {
  const Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  client.get("/metrics");
  ASSERT_EQ(client.get("/coupons/1").status, 200);
  const auto counted = [&] {
    return client.get("/metrics").body.find(R"(route="/coupons/{id}",status="200"} 1)") !=
           std::string::npos;
  };
  EXPECT_TRUE(eventually(counted, 10s));
}

}  // namespace festa::test
