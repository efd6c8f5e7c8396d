// What a lock is to the rest of the program: three verbs and the values they exchange.
#pragma once

#include "lock/company.h"

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace festa::lock {

using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;
using Millis = std::chrono::milliseconds;
using LockKey = std::string;

struct LockRequest {
  LockKey key;
  Millis wait;   // 0: take it now or not at all
  Millis lease;  // the hold ends by itself after this long
  // At most this many requests of this process that stand next to each other in line hold the key
  // together. A storage that does not know how to do that grants one at a time.
  std::size_t together = 1;
};

// One hold of one key. It is move-only: its owner holds the key, and gives the key back by moving
// the lease into unlock(). `owner` is unique per acquisition, so a late or repeated unlock never
// frees another owner's hold. `fence` grows with every grant of a storage and never goes back,
// restarts included. Past `validUntil` the holder must assume that another owner has the key.
// `extensions` counts how often its time was extended, for storages that bound that.
//
// Members of a shared hold have an owner and a fence each; the fences are consecutive in the order
// of their ordinals. The key is given back when the last of them unlocks.
struct Lease {
  Lease() = default;
  Lease(LockKey held, std::string by, std::int64_t token, SteadyTime until = {})
      : key(std::move(held)), owner(std::move(by)), fence(token), validUntil(until) {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept = default;

  // Names the same hold once more: to extend it while another coroutine may give it back.
  Lease clone() const { return Lease(*this); }

  LockKey key;
  std::string owner;
  std::int64_t fence = 0;
  SteadyTime validUntil;
  int extensions = 0;
  std::shared_ptr<Company> company;  // null: the key is held alone
  std::size_t ordinal = 0;           // the place in the company
  // The storage had the request at this time at the latest: it stood in line, was refused for the
  // first time where there is no line, or was granted. What an order of grants is measured by
  // (grant_order.h).
  SteadyTime received;

 private:
  Lease(const Lease&) = default;
};

// What to change on a hold: a new lease counted from now, a fence above the given one, or both.
struct Extension {
  std::optional<Millis> lease;
  std::optional<std::int64_t> fenceAbove;
};

enum class Unlocked {
  kReleased,
  kLost,     // it was no longer ours: expired, released before, or taken by a successor
  kUnknown,  // the storage did not answer; the hold ends with its lease at the latest
};

// The queue of this key, or of all keys together, is full. Not a fault: the caller should come back
// later.
class LockQueueFull : public std::runtime_error {
 public:
  LockQueueFull() : std::runtime_error("lock queue is full") {}
};

// The storage takes no more requests because the process is stopping.
class LockClosed : public std::runtime_error {
 public:
  LockClosed() : std::runtime_error("lock storage is closed") {}
};

// The storage cannot be reached or does not answer as it should.
class LockStorageUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thread-safe. Every verb is awaited on an event loop's thread and resumes on that same loop.
// Waiting costs no thread.
class LockStorage {
 public:
  virtual ~LockStorage() = default;

  // A lease, or nullopt when the key was busy for the whole wait. Throws LockQueueFull, LockClosed,
  // LockStorageUnavailable. Requests for one key are granted in the order of their arrival where
  // the storage promises it.
  virtual drogon::Task<std::optional<Lease>> tryLock(LockRequest request) = 0;

  // Changes a hold that is still ours and updates `lease`; false when it is lost. Never creates a
  // hold anew.
  virtual drogon::Task<bool> extend(Lease& lease, Extension extension) = 0;

  // Gives the key back, and with it the lease. Does not throw.
  virtual drogon::Task<Unlocked> unlock(Lease lease) = 0;

  // Fails all waiters and later requests with LockClosed; holders keep what they hold and may still
  // unlock.
  virtual void close() = 0;
};

// Holders stop trusting a lease this much before the storage hands it on: clocks drift, and a check
// takes time.
constexpr Millis driftMargin(Millis lease) {
  return lease / 100 + Millis{2};
}

}  // namespace festa::lock
