// What Prometheus sees.
#pragma once

#include "controllers/http/http_front.h"
#include "lock/lock_hold.h"
#include "lock/lock_observer.h"
#include "services/coupons/queued_claims.h"
#include "services/queue/ordered_queue.h"
#include "services/write/write_context.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace festa {

using MetricFamilies = std::vector<prometheus::MetricFamily>;

// Prometheus text format.
std::string prometheusText(const MetricFamilies& families);

// Remembers which metric belongs to which values, so that a family is asked, with a map of labels
// built for it, once and not for every observation. Thread-safe. As bounded as the labels are: for
// patterns and names, never for request data.
template <class Metric>
class MetricMemo {
 public:
  // `make()` asks the family, when these values come for the first time.
  template <class Make>
  Metric& of(std::initializer_list<std::string_view> values, Make make) {
    thread_local std::string key;
    key.clear();
    for (const auto value : values) key.append(value).push_back('\0');
    {
      const std::shared_lock guard(mutex_);
      if (const auto found = known_.find(key); found != known_.end()) return *found->second;
    }
    Metric& made = make();
    const std::lock_guard guard(mutex_);
    known_.emplace(key, &made);
    return made;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::string, Metric*> known_;  // guarded by mutex_
};

// Thread-safe. Labels never carry request data: routes by their pattern, locks by their Lockable's
// name.
class Metrics : public lock::LockObserver, public RequestObserver {
 public:
  using Labels = prometheus::Labels;

  Metrics();

  // Counts the request and writes its line of the log.
  void answered(const AnsweredRequest& request) override;
  void finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) override;
  void renewed(const std::string& lockable, const std::string& strategy,
               lock::RenewalOutcome outcome) override;

  // For the writes of one locked request. Keeps the request; must not outlive the metrics.
  std::unique_ptr<WriteObserver> observeWrites(const drogon::HttpRequestPtr& request,
                                               const lock::LockHold& hold);

  // For the entries of one queue, and for how long its claims wait. Must not outlive the metrics.
  std::unique_ptr<queue::QueueObserver> observeQueue(const std::string& queue);
  std::unique_ptr<ClaimObserver> observeClaims(const std::string& queue);

  // Values that others keep, read each time the metrics are collected, on the thread that does.
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

  // What all metrics are at this moment. Takes milliseconds when there are many series: not on an
  // event loop.
  MetricFamilies collect() const;

 private:
  class Writes;
  class Entries;
  class Claims;
  // Reads values at the moment of a collection.
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
