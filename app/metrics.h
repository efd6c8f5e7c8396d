// What Prometheus sees.
#pragma once

#include "lock/lock_observer.h"
#include "services/write_observer.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <functional>
#include <memory>
#include <string>

namespace festa {

// Thread-safe. Labels never carry request data: routes by their pattern, locks by their Lockable's
// name.
class Metrics : public lock::LockObserver, public WriteObserver {
 public:
  Metrics();

  void requestFinished(const std::string& method, const std::string& route, int status,
                       double seconds);
  void finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) override;
  void conflictRepeated() override;
  void commitUnknown(Resolution found) override;

  // Read each time the metrics are rendered.
  void addGauge(const std::string& name, const std::string& help, std::function<double()> read);

  // Prometheus text format.
  std::string render();

 private:
  struct ReadGauge {
    prometheus::Gauge& gauge;
    std::function<double()> read;
  };

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& requestSeconds_;
  prometheus::Family<prometheus::Counter>& lockOutcomes_;
  prometheus::Family<prometheus::Histogram>& lockWait_;
  prometheus::Family<prometheus::Histogram>& lockHold_;
  prometheus::Counter& conflicts_;
  prometheus::Family<prometheus::Counter>& unknownCommits_;
  std::vector<ReadGauge> gauges_;
};

}  // namespace festa
