// Notes the times of requests of the lab that ask for them.
#pragma once

#include "app/lab/lab_times.h"
#include "lock/lock_observer.h"
#include "services/write/write_context.h"

#include <memory>
#include <string>

namespace festa {

// A request with `X-Lab-Times: on` gets its times in a header of that name of its answer. Decorates
// the observer of all locks. Only a lab start makes one. Thread-safe: the times belong to their
// request.
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
  // Notes begin and commit of the request's writes, and tells `inner` everything.
  static std::unique_ptr<WriteObserver> observe(const drogon::HttpRequestPtr& request,
                                                std::unique_ptr<WriteObserver> inner);
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
