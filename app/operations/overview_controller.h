// Shows operators one process at a glance.
#pragma once

#include "app/config/config.h"
#include "app/operations/health.h"
#include "app/operations/instance_rows.h"
#include "app/operations/metrics_page.h"
#include "controllers/http/route_publisher.h"
#include "controllers/json/json_writer.h"

#include <optional>
#include <string>

namespace festa {

// GET /admin/overview: who holds and who waits, waits and holds of the last minutes, counters,
// queues, loops, the door's limits, the servers' health, and the other instances by their rows. The
// parts are read one after the other, not at one moment.
class OverviewController {
 public:
  static constexpr std::size_t kMostRows = 100;  // so many locks are shown

  // All outlive this.
  struct Parts {
    const Config& config;
    Locks& locks;
    const Health& health;
    MetricsPage& metrics;
    const InstanceRows& instances;
  };

  explicit OverviewController(Parts parts) : parts_(parts) {}

  // Must outlive the routes.
  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> show(const Call<NoInput>& call) const;
  drogon::Task<std::optional<std::vector<InstanceRow>>> instances() const;
  void writeLocks(JsonWriter& json) const;
  void writeHistograms(JsonWriter& json) const;
  void writeDoor(JsonWriter& json, const MetricFamilies& metrics) const;

  const Parts parts_;
};

}  // namespace festa
