#include "app/metrics.h"

#include "app/edge.h"
#include "app/log.h"

#include <prometheus/text_serializer.h>

#include <sstream>

namespace festa {

namespace {

const prometheus::Histogram::BucketBoundaries kSeconds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

double seconds(lock::SteadyClock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Metrics::Metrics()
    : requests_(prometheus::BuildCounter()
                    .Name("festa_http_requests_total")
                    .Help("Answers by route, method and status.")
                    .Register(registry_)),
      requestSeconds_(prometheus::BuildHistogram()
                          .Name("festa_http_request_seconds")
                          .Help("From the request read to the answer handed to the connection.")
                          .Register(registry_)),
      lockOutcomes_(prometheus::BuildCounter()
                        .Name("festa_lock_requests_total")
                        .Help("Requests of locked routes by lockable, strategy and outcome.")
                        .Register(registry_)),
      lockWait_(prometheus::BuildHistogram()
                    .Name("festa_lock_wait_seconds")
                    .Help("From the arrival at the lock to its grant or refusal.")
                    .Register(registry_)),
      lockHold_(prometheus::BuildHistogram()
                    .Name("festa_lock_hold_seconds")
                    .Help("From the grant to the release.")
                    .Register(registry_)),
      conflicts_(prometheus::BuildCounter()
                     .Name("festa_write_conflicts_total")
                     .Help("Transactions run again because a concurrent writer came first.")
                     .Register(registry_)
                     .Add({})),
      unknownCommits_(prometheus::BuildCounter()
                          .Name("festa_commit_unknown_total")
                          .Help("COMMITs without acknowledgement, by what was found out.")
                          .Register(registry_)) {}

void Metrics::requestFinished(const std::string& method, const std::string& route, int status,
                              double seconds) {
  requests_.Add({{"method", method}, {"route", route}, {"status", std::to_string(status)}})
      .Increment();
  requestSeconds_.Add({{"method", method}, {"route", route}}, kSeconds).Observe(seconds);
}

void Metrics::finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) {
  const prometheus::Labels labels{{"lockable", record.lockable}, {"strategy", record.strategy}};
  auto outcome = labels;
  outcome.emplace("outcome", nameOf(record.outcome));
  lockOutcomes_.Add(outcome).Increment();
  lockWait_.Add(labels, kSeconds).Observe(seconds(record.wait));
  const bool held = record.hold.count() > 0;
  if (held) lockHold_.Add(labels, kSeconds).Observe(seconds(record.hold));
  LogLine("lock")
      .with("request_id", requestIdOf(request))
      .with("lockable", record.lockable)
      .with("strategy", record.strategy)
      .with("outcome", nameOf(record.outcome))
      .with("wait_ms", seconds(record.wait) * 1000)
      .with("hold_ms", seconds(record.hold) * 1000);
}

void Metrics::conflictRepeated() {
  conflicts_.Increment();
}

void Metrics::commitUnknown(Resolution found) {
  const auto* const text = found == Resolution::kCommitted      ? "committed"
                           : found == Resolution::kNotCommitted ? "not_committed"
                                                                : "unresolved";
  unknownCommits_.Add({{"found", text}}).Increment();
}

void Metrics::addGauge(const std::string& name, const std::string& help,
                       std::function<double()> read) {
  auto& gauge = prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add({});
  gauges_.push_back({gauge, std::move(read)});
}

std::string Metrics::render() {
  for (const auto& [gauge, read] : gauges_) gauge.Set(read());
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, registry_.Collect());
  return out.str();
}

}  // namespace festa
