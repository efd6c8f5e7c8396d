// Seats known to be sold: requests for them are refused without a lock and without a query.
#pragma once

#include "services/seats/seat.h"
#include "services/time_source.h"

#include <array>
#include <chrono>
#include <deque>
#include <mutex>
#include <tuple>
#include <unordered_map>

namespace festa {

// A bounded view of committed sales in this process. An entry counts for one second from the moment
// before the query that proved it was sent: a seat that another process frees can be bought here
// within that second, without a message. Thread-safe.
class SoldSeats {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLifetime{1};

  explicit SoldSeats(std::size_t capacity, const TimeSource& time = kSteadyTime);

  bool isSold(const SeatRef& seat) const;
  // A query sent after `provedAfter` has found the seat sold by a committed sale, or sold it.
  void add(const SeatRef& seat, Clock::time_point provedAfter);
  // It was freed here.
  void forget(const SeatRef& seat);

  std::size_t size() const;

 private:
  struct Hash {
    std::size_t operator()(const SeatRef& seat) const;
  };
  // All entries live equally long, so the oldest are also the first to end.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<SeatRef, Clock::time_point, Hash> ends;
    std::deque<SeatRef> order;  // as added; may name seats that are forgotten
  };

  Shard& shardOf(const SeatRef& seat);
  const Shard& shardOf(const SeatRef& seat) const;
  void makeRoom(Shard& shard) const;

  const std::size_t capacityPerShard_;
  const TimeSource& time_;
  std::array<Shard, 16> shards_;
};

}  // namespace festa
