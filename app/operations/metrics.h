// What Prometheus sees.
#pragma once

#include "app/operations/metric_memo.h"
#include "app/operations/metrics_page.h"
#include "lock/lock_hold.h"
#include "lock/lock_observer.h"
#include "services/coupons/queued_claims.h"
#include "services/queue/ordered_queue.h"
#include "services/write/write_context.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace festa {

// Thread-safe. Labels never carry request data: routes by their pattern, locks by their Lockable's
// name.
class Metrics : public lock::LockObserver, public MetricsText {
 public:
  using Labels = prometheus::Labels;

  Metrics();

  void requestFinished(const std::string& method, const std::string& route, int status,
                       double seconds);
  void finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) override;
  void renewed(const std::string& lockable, const std::string& strategy,
               lock::RenewalOutcome outcome) override;

  // For the writes of one locked request. Keeps the request; must not outlive the metrics.
  std::unique_ptr<WriteObserver> observeWrites(const drogon::HttpRequestPtr& request,
                                               const lock::LockHold& hold);

  // For the entries of one queue, and for how long its claims wait. Must not outlive the metrics.
  std::unique_ptr<queue::QueueObserver> observeQueue(const std::string& queue);
  std::unique_ptr<ClaimObserver> observeClaims(const std::string& queue);

  // Values that others keep, read each time the metrics are rendered, on the thread that renders.
  // Added at start only, under one name with one type and help. A counter's value must never go
  // down.
  struct Sample {
    Labels labels;
    double value;
  };
  template <class Read>
  void addGauge(const std::string& name, const std::string& help, Read read) {
    addGauges(name, help, [read = std::move(read)] { return std::vector<Sample>{{{}, read()}}; });
  }
  template <class Read>
  void addGauges(const std::string& name, const std::string& help, Read read) {
    addSource(prometheus::MetricType::Gauge, name, help,
              std::make_unique<ReadBy<Read>>(std::move(read)));
  }
  template <class Read>
  void addCounterSource(const std::string& name, const std::string& help, Labels labels,
                        Read read) {
    auto readOne = [labels = std::move(labels), read = std::move(read)] {
      return std::vector<Sample>{{labels, read()}};
    };
    addSource(prometheus::MetricType::Counter, name, help,
              std::make_unique<ReadBy<decltype(readOne)>>(std::move(readOne)));
  }

  // Prometheus text format. Takes milliseconds when there are many series: not on an event loop.
  std::string render() const override;

 private:
  class Writes;
  class Entries;
  class Claims;
  // Values at the moment of a rendering.
  class Samples {
   public:
    virtual ~Samples() = default;
    virtual std::vector<Sample> read() const = 0;
  };
  template <class Read>
  class ReadBy : public Samples {
   public:
    explicit ReadBy(Read read) : read_(std::move(read)) {}
    std::vector<Sample> read() const override { return read_(); }

   private:
    const Read read_;
  };
  struct Source {
    prometheus::MetricType type;
    std::string help;
    std::vector<std::unique_ptr<Samples>> reads;
  };

  void addSource(prometheus::MetricType type, const std::string& name, const std::string& help,
                 std::unique_ptr<Samples> read);

  prometheus::Family<prometheus::Counter>& counter(const char* name, const char* help);
  prometheus::Family<prometheus::Histogram>& histogram(const char* name, const char* help);

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& requestSeconds_;
  prometheus::Family<prometheus::Counter>& lockOutcomes_;
  prometheus::Family<prometheus::Histogram>& lockWait_;
  prometheus::Family<prometheus::Histogram>& lockHold_;
  prometheus::Family<prometheus::Counter>& renewals_;
  prometheus::Family<prometheus::Histogram>& poolWait_;
  prometheus::Family<prometheus::Counter>& fencesRefused_;
  prometheus::Family<prometheus::Counter>& fencesRenewed_;
  prometheus::Family<prometheus::Counter>& conflicts_;
  prometheus::Family<prometheus::Counter>& unknownCommits_;
  prometheus::Family<prometheus::Histogram>& queueWait_;
  prometheus::Family<prometheus::Histogram>& queueAdmission_;
  prometheus::Family<prometheus::Histogram>& queueWork_;
  prometheus::Family<prometheus::Counter>& redelivered_;
  prometheus::Family<prometheus::Counter>& deadLettered_;
  // For what every request does.
  MetricMemo<prometheus::Counter> requestMemo_;
  MetricMemo<prometheus::Histogram> requestSecondsMemo_;
  MetricMemo<prometheus::Counter> lockOutcomeMemo_;
  MetricMemo<prometheus::Histogram> lockWaitMemo_;
  MetricMemo<prometheus::Histogram> lockHoldMemo_;
  std::map<std::string, Source> sources_;  // by name
};

}  // namespace festa
