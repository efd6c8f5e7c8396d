// From the start of the event loops to the end of the process.
#pragma once

#include "app/config/config.h"
#include "app/locks.h"
#include "app/operations/loop_lag.h"
#include "app/queues.h"
#include "app/website.h"
#include "controllers/http/connections.h"
#include "controllers/http/drain.h"
#include "services/periodic_task.h"

#include <csignal>
#include <memory>
#include <thread>
#include <vector>

namespace festa {

// Blocks SIGTERM and SIGINT for this thread and those it makes, so that only Lifecycle receives
// them. To be called before any other thread exists.
sigset_t blockStopSignals();

// Runs Drogon's loops, starts what works in the background when they run, and ends all in order
// when a signal arrives: no new requests, no waiting, the requests in hand, the background work,
// the loops. What uses a loop or a database client stops before Drogon quits: Drogon destroys the
// clients while the loops still run.
class Lifecycle {
 public:
  // Everything outlives it.
  struct Parts {
    const Config& config;
    Metrics& metrics;
    Locks& locks;
    const Queues& queues;
    Accounts& accounts;
    const Services& services;
    Website& website;
    Connections& connections;
    Drain& drain;
  };

  explicit Lifecycle(Parts parts);

  // Returns when a signal has been handled.
  void run(sigset_t signals);

 private:
  void begin(sigset_t signals);
  void stopOnSignal(sigset_t signals) const;
  void drainRequests() const;

  const Parts parts_;
  const std::shared_ptr<LoopLag> lag_;
  // They delete what is too old: keys, notifications, claims.
  const std::vector<std::shared_ptr<PeriodicTask>> sweeps_;
  std::thread stopper_;
};

}  // namespace festa
