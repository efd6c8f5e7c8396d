// Fencing tokens: numbers that only grow, so that the database can refuse a holder that was
// overtaken.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace festa::lock {

// token = epoch << 32 | counter. The epoch is drawn from a durable sequence each time the counter
// starts anew, so tokens of a restarted process are above all earlier ones and two owners never
// hold equal tokens. Tokens stay below 2^53 because Lua numbers are doubles. Not thread-safe: the
// owner of the counter serializes calls.
class FenceCounter {
 public:
  static constexpr std::int64_t kMaxEpoch = (std::int64_t{1} << 21) - 1;
  static constexpr std::int64_t kMaxCounter = (std::int64_t{1} << 32) - 1;

  explicit FenceCounter(std::int64_t epoch) : base_(checked(epoch) << 32) {}

  std::int64_t next() { return base_ | advance(1); }
  // How many tokens this epoch still has.
  std::int64_t left() const { return kMaxCounter - counter_; }

  // A token above `floor`, or 0 when this epoch has none: the floor then belongs to a later epoch,
  // whose owner is not us.
  std::int64_t nextAbove(std::int64_t floor) {
    if (floor < (base_ | counter_)) return next();
    if ((floor >> 32) != (base_ >> 32)) return 0;
    return base_ | advance((floor & kMaxCounter) - counter_ + 1);
  }

 private:
  static std::int64_t checked(std::int64_t epoch) {
    if (epoch < 1 || epoch > kMaxEpoch) throw std::out_of_range("lock epoch is out of range");
    return epoch;
  }

  std::int64_t advance(std::int64_t by) {
    if (counter_ + by > kMaxCounter) throw std::out_of_range("fence counter is used up");
    return counter_ += by;
  }

  const std::int64_t base_;
  std::int64_t counter_ = 0;  // last one given; 0: none yet
};

}  // namespace festa::lock
