// The values of all metrics, read off the request loops.
#pragma once

#include "app/operations/metrics.h"
#include "controllers/cache/single_flight_cache.h"

#include <trantor/net/EventLoopThread.h>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace festa {

struct MetricsReading {
  MetricFamilies families;
  std::string text;            // the same in Prometheus text format
  std::exception_ptr failure;  // instead of both
};

// Reads and renders on a thread of its own, which takes milliseconds, and only for a request. A
// reading is used for a second after it was done, also if it failed; requests that come while one
// is under way share it. Thread-safe.
class MetricsPage {
 public:
  using Reading = std::shared_ptr<const MetricsReading>;

  // `metrics` are read on the page's thread only. Both must outlive the page.
  explicit MetricsPage(const Metrics& metrics, const TimeSource& time = kSteadyTime);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Awaited on an event loop, which it does not block; resumes there. Throws what reading has
  // thrown, and ServiceError(kShuttingDown) after stop().
  drogon::Task<Reading> read();

  // Waits for a reading under way; there will be no other. Call it once and before the loops end
  // on which read() is awaited, but not on one of them. The destructor calls it if it was not
  // called.
  void stop();

 private:
  drogon::Task<Reading> readOnThread();
  void begin();
  void end();

  const Metrics& metrics_;
  SingleFlightCache<int, Reading> last_;  // one, under the key 0
  std::mutex mutex_;
  std::condition_variable ended_;
  bool isReading_ = false;                            // guarded by mutex_
  bool isStopped_ = false;                            // guarded by mutex_
  std::unique_ptr<trantor::EventLoopThread> thread_;  // null after stop()
};

}  // namespace festa
