// When things happened to a request of the lab that asks for it, told in a header of its answer.
#pragma once

#include "lock/lock_observer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace festa {

// Moments are nanoseconds of the machine's steady clock, so that those of several processes on one
// machine can be compared; 0: it did not happen.
struct LabTimes {
  std::string instance;         // that served it
  std::string outcome;          // its lock's, see lock::nameOf(); "": it did not reach one
  std::int64_t asked = 0;       // for the lock
  std::int64_t received = 0;    // its storage had the request, see lock::Lease
  std::int64_t granted = 0;     // or allowed to go on without one, by strategy
  std::int64_t begun = 0;       // it got its database connection
  std::int64_t committing = 0;  // its effects are complete, COMMIT is next
  // The handler returned: COMMIT had been acknowledged, or the transaction was rolled back.
  std::int64_t ended = 0;
  std::int64_t released = 0;  // the lock; before `ended` by X-Lab-Fault: release-before-commit
  std::int64_t fence = 0;     // 0: none

  bool operator==(const LabTimes&) const = default;
};

// The text of the header X-Lab-Times, and back. Nullopt: it is no such text.
std::string textOf(const LabTimes& times);
std::optional<LabTimes> labTimesIn(std::string_view text);

// A request with `X-Lab-Times: on` gets its times in a header of that name of its answer. Decorates
// the observer of all locks. Thread-safe: the times belong to their request.
class LabTimekeeper : public lock::LockObserver {
 public:
  // `instance` is this process's name. `inner` outlives this.
  LabTimekeeper(lock::LockObserver& inner, std::string instance)
      : inner_(inner), instance_(std::move(instance)) {}

  // Hooks itself into Drogon, which keeps a reference until its end. Once, before run().
  void install();

  // Begins to note the times of a request that asks for them.
  void attend(const drogon::HttpRequestPtr& request) const;
  // nullptr: it did not ask. Valid as long as the request.
  static LabTimes* timesOf(const drogon::HttpRequestPtr& request);
  static std::int64_t now();

  void finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) override;
  void renewed(const std::string& lockable, const std::string& strategy,
               lock::RenewalOutcome outcome) override {
    inner_.renewed(lockable, strategy, outcome);
  }

 private:
  lock::LockObserver& inner_;
  const std::string instance_;
};

}  // namespace festa
