// The text of /metrics, rendered off the request loops.
#pragma once

#include "services/time_source.h"

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoopThread.h>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace festa {

class MetricsText {
 public:
  virtual ~MetricsText() = default;
  virtual std::string render() const = 0;
};

// Renders on a thread of its own, and only for a request. A text is served for a second after it
// was rendered; requests that come while one is rendered share it. Thread-safe.
class MetricsPage {
 public:
  // `metrics` is rendered on the page's thread only. Both must outlive the page.
  explicit MetricsPage(const MetricsText& metrics, const TimeSource& time = kSteadyTime);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Awaited on an event loop, which it does not block; resumes there. Throws what rendering has
  // thrown, and ServiceError(kShuttingDown) after stop().
  drogon::Task<std::string> text();

  // Waits for a rendering under way; there will be no other. Call it once and before the loops end
  // on which text() is awaited, but not on one of them. The destructor calls it if it was not
  // called.
  void stop();

 private:
  class Turn;
  struct Rendering {
    std::string text;
    std::exception_ptr error;  // instead of the text
  };

  // True: `turn` has the text of the last second; false: it will be told.
  bool joinOr(Turn& turn);
  void renderOnce();
  void tellAll(const Rendering& rendering);

  const MetricsText& metrics_;
  const TimeSource& time_;
  std::mutex mutex_;
  // guarded by mutex_
  bool stopped_ = false;
  std::optional<Rendering> last_;
  std::chrono::steady_clock::time_point lastAt_;  // when last_ was done
  // Not empty: a rendering is under way or will be.
  std::vector<Turn*> waiting_;

  std::unique_ptr<trantor::EventLoopThread> thread_;  // null after stop()
};

}  // namespace festa
