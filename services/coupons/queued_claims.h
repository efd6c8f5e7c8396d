// Coupon claims that wait in a queue: accepted first, decided in the order of their arrival, then
// worked on.
#pragma once

#include "services/write/database.h"
#include "services/write/receipt.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace festa {

struct AcceptedClaim {
  std::int64_t id = 0;
  std::int64_t ahead = 0;  // claims of its coupon that are still to be decided before it
};

struct ClaimView {
  std::int64_t id = 0;
  std::int64_t userId = 0;
  std::string state;  // NEW, PROCESSED, DONE, FAILED
  std::int64_t ahead = 0;
  std::optional<std::int64_t> sequence;
  std::optional<std::string> code;  // why it FAILED

  bool isFinished() const { return state == "DONE" || state == "FAILED"; }
  bool operator==(const ClaimView&) const = default;
};

struct ClaimQueueSettings {
  std::string queue;                       // its name in the rows
  std::chrono::milliseconds workTime{0};   // of the slow part, in the lab
  std::chrono::seconds republishAfter{5};  // without a confirmation
  // With one, if it is still not finished: a broker may have lost it. 0: never.
  std::chrono::seconds republishAgain{0};
};

// Gets the events of claims, on event loops. Must not throw or block.
class ClaimObserver {
 public:
  virtual ~ClaimObserver() = default;
  virtual void decided(double secondsWaited) = 0;
};

// The state of a claim is in its row only. Every call is idempotent: a second one changes nothing.
// Thread-safe.
class QueuedClaims {
 public:
  // `database` outlives it. `observer` may be null.
  QueuedClaims(const Database& database, ClaimQueueSettings settings,
               std::unique_ptr<ClaimObserver> observer)
      : database_(database), settings_(std::move(settings)), observer_(std::move(observer)) {}

  // Throws ServiceError: kCouponNotFound, kUserNotFound, kAlreadyClaimed.
  drogon::Task<AcceptedClaim> accept(std::int64_t couponId, std::int64_t userId,
                                     const Receipt<AcceptedClaim>* receipt = nullptr) const;
  // The queue has confirmed them.
  drogon::Task<> confirmed(std::vector<std::int64_t> ids) const;

  // Decides this claim, and before it all earlier ones of its coupon that are still NEW, in
  // statements of up to kDecidedAtOnce, which exclude a second decider. True: it is admitted and to
  // be worked on.
  drogon::Task<bool> admit(std::int64_t id) const;
  // The slow part, then DONE. Returns after COMMIT.
  drogon::Task<> work(std::int64_t id) const;
  // FAILED for good: the sequence number stays, the unit returns to stock.
  drogon::Task<> giveUp(std::int64_t id) const;

  static constexpr std::int64_t kDecidedAtOnce = 64;
  static constexpr std::size_t kAtOnce = 500;
  // Unfinished ones of this queue in the order of arrival, at most kAtOnce: those to be published
  // again, or all above `after`.
  drogon::Task<std::vector<std::int64_t>> unconfirmed() const;
  drogon::Task<std::vector<std::int64_t>> unfinished(std::int64_t after) const;

 private:
  // Of the coupon's oldest claims that are NEW, at most so many.
  drogon::Task<drogon::orm::Result> decide(std::int64_t couponId, std::int64_t most) const;

  const Database& database_;
  const ClaimQueueSettings settings_;
  const std::unique_ptr<ClaimObserver> observer_;
  // How many the next statement decides: half as many after a failure, twice as many after a
  // success. Where sessions end again and again, a short statement gets through.
  mutable std::atomic<std::int64_t> atOnce_{kDecidedAtOnce};
};

// Fails the claims that were not finished in time, of all queues: the claim's own queue may no
// longer be configured. Thread-safe.
class ClaimExpiry {
 public:
  ClaimExpiry(const Database& database, std::chrono::seconds timeout)
      : database_(database), timeout_(timeout) {}

  // How many have failed by it.
  drogon::Task<std::size_t> run() const;

 private:
  const Database& database_;
  const std::chrono::seconds timeout_;
};

// Reads claims of all queues. Thread-safe.
class ClaimReader {
 public:
  explicit ClaimReader(const Database& database) : database_(database) {}

  // Throws ServiceError(kClaimNotFound).
  drogon::Task<ClaimView> find(std::int64_t id) const;
  // Those that exist, in any order.
  drogon::Task<std::vector<ClaimView>> find(std::vector<std::int64_t> ids) const;

 private:
  const Database& database_;
};

}  // namespace festa
