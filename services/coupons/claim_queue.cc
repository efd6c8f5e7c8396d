#include "services/coupons/claim_queue.h"

#include "services/write/guarded_write.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

namespace festa {

namespace {

// Confirmations are marked together: one by one they would cost a commit each.
constexpr double kMarkEvery = 0.2;

}  // namespace

drogon::Task<queue::Admission> ClaimQueue::admit(queue::QueueEntry id) {
  const bool isAdmitted = co_await claims_.admit(id);
  co_return isAdmitted ? queue::Admission::kWork : queue::Admission::kOver;
}

// A database that is away or busy is no failure of the work.
drogon::Task<> ClaimQueue::work(queue::QueueEntry id) {
  for (int attempt = 0;; ++attempt) {
    try {
      co_await claims_.work(id);
      co_return;
    } catch (const drogon::orm::DrogonDbException& error) {
      if (classify(error) == DbFailure::kOther) throw;
    }
    co_await conflictPause(attempt);
  }
}

void ClaimQueue::start(trantor::EventLoop* loop, std::chrono::seconds sweepEvery) {
  queue_->start(*this, loop);
  loop->queueInLoop([this, loop, sweepEvery] { recover(loop, sweepEvery); });
}

drogon::Task<AcceptedClaim> ClaimQueue::accept(std::int64_t couponId, std::int64_t userId,
                                               const Receipt<AcceptedClaim>* receipt) {
  if (!queue_->isAvailable()) throw ServiceError(ErrorCode::kQueueUnavailable);
  const auto accepted = co_await claims_.accept(couponId, userId, receipt);
  // Not confirmed: the sweep publishes it again.
  co_await publish(accepted.id);
  co_return accepted;
}

drogon::Task<bool> ClaimQueue::publish(std::int64_t id) {
  try {
    co_await queue_->publish(id);
  } catch (const queue::QueueUnavailable& error) {
    LOG_WARN << "claim " << id << " is not in the queue yet: " << error.what();
    co_return false;
  }
  const std::lock_guard guard(mutex_);
  confirmed_.push_back(id);
  co_return true;
}

std::vector<std::int64_t> ClaimQueue::takeConfirmed() {
  const std::lock_guard guard(mutex_);
  return std::exchange(confirmed_, {});
}

drogon::AsyncTask ClaimQueue::tellConfirmed() {
  const auto ids = takeConfirmed();
  if (ids.empty()) co_return;
  try {
    co_await claims_.confirmed(ids);
  } catch (const std::exception& error) {
    LOG_WARN << "confirmed claims are not marked: " << error.what();
    const std::lock_guard guard(mutex_);
    confirmed_.insert(confirmed_.end(), ids.begin(), ids.end());
  }
}

// What a queue without memory held is published in the order of arrival before anything new can
// overtake it by the sweep.
drogon::AsyncTask ClaimQueue::recover(trantor::EventLoop* loop, std::chrono::seconds sweepEvery) {
  std::int64_t last = 0;
  bool more = forgets_;
  while (more) {
    try {
      const auto ids = co_await claims_.unfinished(last);
      more = ids.size() == QueuedClaims::kAtOnce;  // accept() publishes the newer ones itself
      for (const auto id : ids) {
        co_await publish(id);
        last = id;
      }
    } catch (const std::exception& error) {
      LOG_WARN << "unfinished claims are not published yet: " << error.what();
    }
    if (more) co_await drogon::sleepCoro(loop, 0.01);
  }
  loop->runEvery(kMarkEvery, [this] { tellConfirmed(); });
  loop->runEvery(static_cast<double>(sweepEvery.count()), [this] { sweep(); });
}

drogon::AsyncTask ClaimQueue::sweep() {
  if (sweeping_) co_return;
  sweeping_ = true;
  try {
    const auto ids = co_await claims_.unconfirmed();
    for (const auto id : ids) {
      const bool isPublished = co_await publish(id);
      if (!isPublished) break;
    }
  } catch (const std::exception& error) {
    LOG_WARN << "claims were not swept: " << error.what();
  }
  sweeping_ = false;
}

}  // namespace festa
