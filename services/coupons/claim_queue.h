// A queue with the claims that wait in it.
#pragma once

#include "services/coupons/queued_claims.h"
#include "services/queue/ordered_queue.h"

#include <memory>
#include <mutex>
#include <vector>

namespace trantor {
class EventLoop;
}

namespace festa {

// Accepts claims, feeds them to the queue and runs the queue's entries. Thread-safe. Outlives the
// loop that it is started on.
class ClaimQueue : private queue::EntryHandlers {
 public:
  // `database` outlives it. `forgets`: the queue is empty after a start, and all unfinished claims
  // are published again.
  ClaimQueue(std::shared_ptr<queue::OrderedQueue> queue, const Database& database,
             ClaimQueueSettings settings, std::unique_ptr<ClaimObserver> observer, bool forgets)
      : queue_(std::move(queue)),
        claims_(database, std::move(settings), std::move(observer)),
        forgets_(forgets) {}

  // Once, when the loop runs; its timers live there.
  void start(trantor::EventLoop* loop, std::chrono::seconds sweepEvery);
  void stop() { queue_->stop(); }
  const queue::OrderedQueue& queue() const { return *queue_; }

  // Accepted means stored: it will be decided even if the queue loses it or this process ends.
  // Throws ServiceError(kQueueUnavailable) at once while the broker is away, and what accept()
  // throws.
  drogon::Task<AcceptedClaim> accept(std::int64_t couponId, std::int64_t userId,
                                     const Receipt<AcceptedClaim>* receipt);

 private:
  drogon::Task<queue::Admission> admit(queue::QueueEntry id) override;
  drogon::Task<> work(queue::QueueEntry id) override;
  drogon::Task<> giveUp(queue::QueueEntry id) override { return claims_.giveUp(id); }

  drogon::Task<bool> publish(std::int64_t id);
  drogon::AsyncTask recover(trantor::EventLoop* loop, std::chrono::seconds sweepEvery);
  drogon::AsyncTask sweep();
  drogon::AsyncTask tellConfirmed();
  std::vector<std::int64_t> takeConfirmed();

  const std::shared_ptr<queue::OrderedQueue> queue_;
  const QueuedClaims claims_;
  const bool forgets_;
  std::mutex mutex_;
  std::vector<std::int64_t> confirmed_;  // guarded by mutex_; not yet marked so in the database
  bool sweeping_ = false;                // on the loop only
};

}  // namespace festa
