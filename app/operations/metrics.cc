#include "app/operations/metrics.h"

#include "app/operations/log.h"
#include "controllers/http/request_context.h"

#include <prometheus/text_serializer.h>

#include <cinttypes>
#include <cstdio>
#include <sstream>

namespace festa {

namespace {

const prometheus::Histogram::BucketBoundaries kSeconds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

double seconds(lock::SteadyClock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::int64_t nanos(lock::SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// The same for the same key in all processes (FNV-1a). Keys may contain parts of bodies, which are
// not logged.
std::string digest(const lock::LockKey& key) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

prometheus::Labels lockLabels(const std::string& lockable, const std::string& strategy) {
  return {{"lockable", lockable}, {"strategy", strategy}};
}

prometheus::Labels with(prometheus::Labels labels, const std::string& name,
                        const std::string& value) {
  labels.emplace(name, value);
  return labels;
}

prometheus::ClientMetric toMetric(prometheus::MetricType type, const Metrics::Sample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  if (type == prometheus::MetricType::Counter)
    metric.counter.value = sample.value;
  else
    metric.gauge.value = sample.value;
  return metric;
}

}  // namespace

prometheus::Family<prometheus::Counter>& Metrics::counter(const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
}

prometheus::Family<prometheus::Histogram>& Metrics::histogram(const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
}

Metrics::Metrics()
    : requests_(counter("festa_http_requests_total", "Answers by route, method and status.")),
      requestSeconds_(histogram("festa_http_request_seconds",
                                "From the request read to the answer handed to the connection.")),
      lockOutcomes_(counter("festa_lock_requests_total",
                            "Requests of locked routes by lockable, strategy and outcome.")),
      lockWait_(histogram("festa_lock_wait_seconds",
                          "From the arrival at the lock to its grant or refusal.")),
      lockHold_(histogram("festa_lock_hold_seconds", "From the grant to the release.")),
      renewals_(counter("festa_lock_renewals_total",
                        "Attempts to renew a lease while the handler runs, by outcome.")),
      poolWait_(histogram(
          "festa_pool_wait_seconds",
          "Guarded writes: from asking for a database connection to having it or giving up.")),
      fencesRefused_(counter("festa_fence_refused_total",
                             "Writes that found a larger token in the row than their own.")),
      fencesRenewed_(counter("festa_fence_renewed_total",
                             "Writes that went on with a larger token from their lock.")),
      conflicts_(counter("festa_write_conflicts_total",
                         "Transactions run again because a concurrent writer came first.")),
      unknownCommits_(counter("festa_commit_unknown_total",
                              "COMMITs without acknowledgement, by what was found out.")),
      queueWait_(
          histogram("festa_queue_wait_seconds", "From a claim's acceptance to its decision.")),
      queueAdmission_(
          histogram("festa_queue_admission_seconds",
                    "The step that admits one entry and moves it on to the work queue.")),
      queueWork_(
          histogram("festa_queue_work_seconds", "Work on an admitted claim that succeeded.")),
      redelivered_(counter("festa_queue_redelivered_total", "Entries that came again.")),
      deadLettered_(counter("festa_queue_dead_lettered_total", "Entries that failed too often.")) {}

class Metrics::Entries : public queue::QueueObserver {
 public:
  Entries(Metrics& metrics, const std::string& queue)
      : metrics_(metrics), labels_{{"queue", queue}} {}

  void admitted(Duration took) override {
    metrics_.queueAdmission_.Add(labels_, kSeconds).Observe(seconds(took));
  }
  void worked(Duration took) override {
    metrics_.queueWork_.Add(labels_, kSeconds).Observe(seconds(took));
  }
  void redelivered() override { metrics_.redelivered_.Add(labels_).Increment(); }
  void deadLettered() override { metrics_.deadLettered_.Add(labels_).Increment(); }

 private:
  Metrics& metrics_;
  const Labels labels_;
};

std::unique_ptr<queue::QueueObserver> Metrics::observeQueue(const std::string& queue) {
  return std::make_unique<Entries>(*this, queue);
}

class Metrics::Claims : public ClaimObserver {
 public:
  Claims(Metrics& metrics, const std::string& queue)
      : metrics_(metrics), labels_{{"queue", queue}} {}
  void decided(double seconds) override {
    metrics_.queueWait_.Add(labels_, kSeconds).Observe(seconds);
  }

 private:
  Metrics& metrics_;
  const Labels labels_;
};

std::unique_ptr<ClaimObserver> Metrics::observeClaims(const std::string& queue) {
  return std::make_unique<Claims>(*this, queue);
}

class Metrics::Writes : public WriteObserver {
 public:
  Writes(Metrics& metrics, drogon::HttpRequestPtr request, Labels labels)
      : metrics_(metrics), request_(std::move(request)), labels_(std::move(labels)) {}

  void poolWaited(std::chrono::steady_clock::duration wait) override {
    metrics_.poolWait_.Add(labels_, kSeconds).Observe(seconds(wait));
    contextOf(request_).poolWait += wait;
  }
  void fenceRefused() override { metrics_.fencesRefused_.Add(labels_).Increment(); }
  void fenceRenewed() override { metrics_.fencesRenewed_.Add(labels_).Increment(); }
  void conflictRepeated() override { metrics_.conflicts_.Add(labels_).Increment(); }
  void commitUnknown(Resolution found) override {
    const auto* const text = found == Resolution::kCommitted      ? "committed"
                             : found == Resolution::kNotCommitted ? "not_committed"
                                                                  : "unresolved";
    metrics_.unknownCommits_.Add(with(labels_, "found", text)).Increment();
  }

 private:
  Metrics& metrics_;
  const drogon::HttpRequestPtr request_;
  const Labels labels_;
};

std::unique_ptr<WriteObserver> Metrics::observeWrites(const drogon::HttpRequestPtr& request,
                                                      const lock::LockHold& hold) {
  return std::make_unique<Writes>(*this, request,
                                  lockLabels(hold.lockable(), hold.strategy().name));
}

void Metrics::answered(const AnsweredRequest& request) {
  // All unknown paths share one series.
  const bool isKnown = !request.route.empty();
  const std::string route = isKnown ? request.route : "unmatched";
  const std::string method = isKnown ? request.method : "other";
  const auto code = std::to_string(request.status);
  requestMemo_
      .of(
          {method, route, code},
          [&]() -> auto& {
            return requests_.Add({{"method", method}, {"route", route}, {"status", code}});
          })
      .Increment();
  requestSecondsMemo_
      .of(
          {method, route},
          [&]() -> auto& {
            return requestSeconds_.Add({{"method", method}, {"route", route}}, kSeconds);
          })
      .Observe(request.seconds);
  LogLine("request")
      .with("request_id", request.id)
      .with("method", request.method)
      .with("route", route)
      .with("status", std::int64_t{request.status})
      .with("ms", request.seconds * 1000);
}

void Metrics::finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) {
  const auto labels = [&record] { return lockLabels(record.lockable, record.strategy); };
  const auto* const outcome = nameOf(record.outcome);
  lockOutcomeMemo_
      .of(
          {record.lockable, record.strategy, outcome},
          [&]() -> auto& { return lockOutcomes_.Add(with(labels(), "outcome", outcome)); })
      .Increment();
  lockWaitMemo_
      .of(
          {record.lockable, record.strategy},
          [&]() -> auto& { return lockWait_.Add(labels(), kSeconds); })
      .Observe(seconds(record.wait));
  const bool held = record.hold.count() > 0;
  if (held)
    lockHoldMemo_
        .of(
            {record.lockable, record.strategy},
            [&]() -> auto& { return lockHold_.Add(labels(), kSeconds); })
        .Observe(seconds(record.hold));
  LogLine line("lock");
  line.with("request_id", contextOf(request).requestId)
      .with("lockable", record.lockable)
      .with("strategy", record.strategy)
      .with("outcome", nameOf(record.outcome))
      .with("wait_ms", seconds(record.wait) * 1000)
      .with("hold_ms", seconds(record.hold) * 1000)
      .with("pool_wait_ms", seconds(contextOf(request).poolWait) * 1000)
      .with("fence", record.fence)
      .with("key", digest(record.key))
      .with("granted_ns", nanos(record.granted))
      .with("ended_ns", nanos(record.ended));
  if (!record.holdId.empty()) line.with("hold", record.holdId);
}

void Metrics::renewed(const std::string& lockable, const std::string& strategy,
                      lock::RenewalOutcome outcome) {
  renewals_.Add(with(lockLabels(lockable, strategy), "outcome", nameOf(outcome))).Increment();
}

void Metrics::addSource(prometheus::MetricType type, const std::string& name,
                        const std::string& help, std::unique_ptr<Samples> read) {
  auto& source = sources_[name];
  source.type = type;
  source.help = help;
  source.reads.push_back(std::move(read));
}

MetricFamilies Metrics::collect() const {
  // Before anything is read: what happened until then is in the values.
  const std::chrono::duration<double> began = std::chrono::system_clock::now().time_since_epoch();
  auto families = registry_.Collect();
  families.push_back({"festa_metrics_rendered_timestamp_seconds",
                      "When this text was rendered, in seconds since 1970.",
                      prometheus::MetricType::Gauge,
                      {toMetric(prometheus::MetricType::Gauge, {{}, began.count()})}});
  for (const auto& [name, source] : sources_) {
    prometheus::MetricFamily family{name, source.help, source.type, {}};
    for (const auto& read : source.reads)
      for (const auto& sample : read->read())
        family.metric.push_back(toMetric(source.type, sample));
    families.push_back(std::move(family));
  }
  return families;
}

std::string prometheusText(const MetricFamilies& families) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace festa
