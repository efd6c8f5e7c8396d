#include "app/operations/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>

namespace festa::test {

using testing::HasSubstr;
using testing::Not;

namespace {

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::string textOf(const Metrics& metrics) {
  return prometheusText(metrics.collect());
}

}  // namespace

TEST(Metrics, AGaugeIsReadAtEachRendering) {
  Metrics metrics;
  double value = 1;
  metrics.addGauge("festa_test", "Help.", [&] { return value; });
  EXPECT_THAT(textOf(metrics), HasSubstr("# TYPE festa_test gauge\nfesta_test 1\n"));
  value = 0;
  EXPECT_THAT(textOf(metrics), HasSubstr("\nfesta_test 0\n"));
}

TEST(Metrics, AllUnknownPathsShareOneSeries) {
  Metrics metrics;
  const std::string id = "an-id";
  metrics.answered({.id = id, .method = "GET", .route = "/festivals", .status = 200});
  for (const auto* method : {"GET", "BREW"})
    metrics.answered({.id = id, .method = method, .route = "", .status = 404});
  const auto text = textOf(metrics);
  EXPECT_THAT(
      text,
      HasSubstr(
          "festa_http_requests_total{method=\"GET\",route=\"/festivals\",status=\"200\"} 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "festa_http_requests_total{method=\"other\",route=\"unmatched\",status=\"404\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("BREW")));
}

TEST(Metrics, TheTextHasTheTimeOfItsRendering) {
  const Metrics metrics;
  const auto seconds = [] {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    return now.count();
  };
  const auto before = seconds();
  const auto text = textOf(metrics);
  const std::string name = "\nfesta_metrics_rendered_timestamp_seconds ";
  ASSERT_THAT(text, HasSubstr(name));
  const auto rendered = std::stod(text.substr(text.find(name) + name.size()));
  EXPECT_GE(rendered, before - 0.000'01);
  EXPECT_LE(rendered, seconds() + 0.000'01);
}

TEST(Metrics, GaugesMayHaveLabelsThatComeWithTime) {
  Metrics metrics;
  std::vector<Metrics::Sample> samples;
  metrics.addGauges("festa_test", "Help.", [&] { return samples; });
  EXPECT_THAT(textOf(metrics), Not(HasSubstr("festa_test{")));
  samples.push_back({{{"strategy", "memory"}}, 3});
  EXPECT_THAT(textOf(metrics), HasSubstr("festa_test{strategy=\"memory\"} 3\n"));
}

TEST(Metrics, CountersOfSeveralSourcesAreOneFamily) {
  Metrics metrics;
  metrics.addCounterSource("festa_test_total", "Help.", {{"strategy", "a"}}, [] { return 5.0; });
  metrics.addCounterSource("festa_test_total", "Help.", {{"strategy", "b"}}, [] { return 6.0; });
  const auto text = textOf(metrics);
  EXPECT_EQ(occurrences(text, "# TYPE festa_test_total counter\n"), 1U);
  EXPECT_THAT(text, HasSubstr("festa_test_total{strategy=\"a\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("festa_test_total{strategy=\"b\"} 6\n"));
}

TEST(Metrics, RenewalsAreCountedByOutcome) {
  Metrics metrics;
  metrics.renewed("pins", "memory", lock::RenewalOutcome::kRenewed);
  metrics.renewed("pins", "memory", lock::RenewalOutcome::kFailed);
  metrics.renewed("pins", "memory", lock::RenewalOutcome::kFailed);
  const std::string labels = R"({lockable="pins",outcome=")";
  EXPECT_THAT(textOf(metrics),
              HasSubstr("festa_lock_renewals_total" + labels + R"(renewed",strategy="memory"} 1)"));
  EXPECT_THAT(textOf(metrics),
              HasSubstr("festa_lock_renewals_total" + labels + R"(failed",strategy="memory"} 2)"));
}

TEST(MetricMemo, AsksOncePerValues) {
  MetricMemo<int> memo;
  std::deque<int> made;
  const auto make = [&]() -> int& { return made.emplace_back(0); };
  ++memo.of({"GET", "/a"}, make);
  ++memo.of({"GET", "/a"}, make);
  ++memo.of({"GET", "/b"}, make);
  EXPECT_EQ(made, (std::deque<int>{2, 1}));
}

TEST(MetricMemo, KeepsValuesApart) {
  MetricMemo<int> memo;
  std::deque<int> made;
  const auto make = [&]() -> int& { return made.emplace_back(0); };
  memo.of({"a", "bc"}, make);
  memo.of({"ab", "c"}, make);
  memo.of({"abc"}, make);
  memo.of({"abc", ""}, make);
  EXPECT_EQ(made.size(), 4U);
}

}  // namespace festa::test
