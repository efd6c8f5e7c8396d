// A lock's hold as the services see it.
#pragma once

#include "lock/lock_hold.h"
#include "services/hold.h"

namespace festa {

// `hold` has a lease and outlives this.
class HeldLock : public Hold {
 public:
  explicit HeldLock(lock::LockHold& hold) : hold_(hold) {}

  SteadyTime validUntil() const override { return hold_.validUntil(); }
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above) override {
    return hold_.renewFence(above);
  }
  void leaveToExpire() override { hold_.leaveToExpire(); }

 private:
  lock::LockHold& hold_;
};

}  // namespace festa
