// A lock's hold as the services see it.
#pragma once

#include "lock/lock_hold.h"
#include "services/write/hold.h"

namespace festa {

// `hold` has a lease and outlives this.
class HeldLock : public Hold {
 public:
  explicit HeldLock(lock::LockHold& hold) : hold_(hold) {}

  SteadyTime validUntil() const override { return hold_.validUntil(); }
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above) override {
    return hold_.renewFence(above);
  }
  bool isShared() const override { return hold_.isShared(); }
  drogon::Task<std::vector<Part*>> gather(Part& mine) override {
    Brought brought(mine, hold_);
    const auto all = co_await hold_.gather(brought);
    std::vector<Part*> parts;
    for (auto* const one : all) {
      auto& other = dynamic_cast<Brought&>(*one);
      parts.push_back(&other.part);
      if (&other.hold != &hold_) others_.push_back(&other.hold);
    }
    co_return parts;
  }
  void finishOthers() override {
    for (auto* const other : others_) other->finish();
  }
  void dismiss() override { hold_.dismiss(); }
  void leaveToExpire() override { hold_.leaveToExpire(); }

 private:
  struct Brought : lock::Company::Part {
    Brought(Hold::Part& mine, lock::LockHold& own) : part(mine), hold(own) {}
    Hold::Part& part;
    lock::LockHold& hold;
  };

  lock::LockHold& hold_;
  std::vector<lock::LockHold*> others_;  // of the parts that this one got; there until dismiss()
};

}  // namespace festa
