#include "app/lifecycle.h"

#include "app/operations/log.h"
#include "app/version.h"

#include <drogon/HttpAppFramework.h>

namespace festa {

namespace {

// `remove() -> Task<std::size_t>`: removes old rows and tells how many.
template <class Remove>
class Sweep : public PeriodicTask {
 public:
  Sweep(const char* what, std::chrono::milliseconds interval, Remove remove)
      : PeriodicTask(interval, {.fails = "cannot be swept", .worksAgain = "are swept again"},
                     FirstRun::kAfterInterval),
        what_(what),
        remove_(std::move(remove)) {}

 private:
  drogon::Task<> work() override {
    const auto rows = co_await remove_();
    if (rows > 0)
      LogLine("swept").with("what", what_).with("rows", static_cast<std::int64_t>(rows));
  }
  void log(bool fails, const std::string& text) const override {
    LogLine("swept", fails ? "warn" : "info").with("what", what_).with("text", text);
  }

  const char* const what_;
  const Remove remove_;
};

template <class Remove>
std::shared_ptr<PeriodicTask> sweep(const char* what, std::chrono::milliseconds interval,
                                    Remove remove) {
  return std::make_shared<Sweep<Remove>>(what, interval, std::move(remove));
}

std::vector<std::shared_ptr<PeriodicTask>> sweepsOf(const Config& config,
                                                    const Services& services) {
  return {sweep("idempotency keys", config.idempotency.sweepEvery,
                [&keys = services.idempotency] { return keys.sweep(); }),
          sweep("notifications", config.notifications.sweepEvery,
                [&notifications = services.notifications] { return notifications.sweep(); }),
          sweep("expired claims", config.queue.sweepEvery,
                [&claims = services.claimExpiry] { return claims.run(); })};
}

}  // namespace

sigset_t blockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

Lifecycle::Lifecycle(Parts parts)
    : parts_(parts),
      lag_(std::make_shared<LoopLag>()),
      sweeps_(sweepsOf(parts.config, parts.services)) {
  parts_.metrics.addGauge(
      "festa_http_in_flight", "Requests read and not yet answered.",
      [&drain = parts_.drain] { return static_cast<double>(drain.inFlight()); });
  const auto& connections = parts_.connections;
  parts_.metrics.addGauge("festa_http_connections", "Clients that are connected.",
                          [&connections] { return static_cast<double>(connections.open()); });
  parts_.metrics.addCounterSource(
      "festa_http_connections_refused_total",
      "Connections closed at once because there were too many.", {},
      [&connections] { return static_cast<double>(connections.refused()); });
  parts_.metrics.addGauge("festa_loop_lag_seconds",
                          "The longest that an event loop was late in the last 15 seconds.",
                          [lag = lag_] { return lag->worst(); });
}

void Lifecycle::run(sigset_t signals) {
  // Not before the loop runs: quitting a loop that does not run yet has no effect.
  drogon::app().registerBeginningAdvice([this, signals] { begin(signals); });
  drogon::app().run();
  stopper_.join();
}

void Lifecycle::begin(sigset_t signals) {
  auto* const loop = drogon::app().getIOLoop(0);  // database clients belong to IO loops
  parts_.queues.start();
  parts_.website.start(loop);
  parts_.accounts.start(loop);
  for (const auto& task : sweeps_) task->start(loop);
  for (std::size_t i = 0; i < drogon::app().getThreadNum(); ++i)
    lag_->watch(drogon::app().getIOLoop(i));
  stopper_ = std::thread([this, signals] { stopOnSignal(signals); });
  const auto& config = parts_.config;
  const std::int64_t metricsPort = config.metrics.port > 0 ? config.metrics.port : config.http.port;
  LogLine("ready")
      .with("version", std::string(version()))
      .with("address", config.http.address)
      .with("port", std::int64_t{config.http.port})
      .with("metrics_port", metricsPort)
      .with("threads", static_cast<std::int64_t>(config.ioThreads()));
}

void Lifecycle::stopOnSignal(sigset_t signals) const {
  int signal = 0;
  sigwait(&signals, &signal);
  LogLine("stopping")
      .with("signal", static_cast<std::int64_t>(signal))
      .with("in_flight", parts_.drain.inFlight());
  drainRequests();
  for (const auto& task : sweeps_) task->stop();
  parts_.queues.stop();
  parts_.accounts.stop();
  parts_.website.stop();
  drogon::app().quit();
}

void Lifecycle::drainRequests() const {
  auto& drain = parts_.drain;
  drain.enter(Drain::Stage::kUnready);
  std::this_thread::sleep_for(parts_.config.http.drainDelay);
  drain.enter(Drain::Stage::kRefusing);
  parts_.locks.close();
  parts_.website.closeStreams();
  const auto deadline = std::chrono::steady_clock::now() + parts_.config.http.drainLimit;
  drain.awaitServed(deadline);
  parts_.connections.endAll();
  const auto unanswered = drain.awaitQuiet(deadline);
  LogLine("stopped", unanswered == 0 ? "info" : "warn").with("unanswered", unanswered);
}

}  // namespace festa
