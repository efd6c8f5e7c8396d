#include "services/queue/local_queue.h"

#include "lock/engine/backoff.h"
#include "services/queue/failure_text.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

namespace festa::queue {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kLastMoment{2};
constexpr Millis kFirstPause{10};
constexpr Millis kLongestPause{1000};

}  // namespace

LocalQueue::LocalQueue(LocalQueueSettings settings, QueueObserver& observer)
    : settings_(settings), observer_(observer) {}

std::shared_ptr<LocalQueue> LocalQueue::create(LocalQueueSettings settings,
                                               QueueObserver& observer) {
  return std::shared_ptr<LocalQueue>(new LocalQueue(settings, observer));
}

void LocalQueue::start(EntryHandlers& handlers, trantor::EventLoop* loop) {
  loop_ = loop;
  handlers_ = &handlers;
  {
    const std::lock_guard guard(mutex_);
    started_ = true;
  }
  wakeAdmission();
}

bool LocalQueue::isAvailable() const {
  const std::lock_guard guard(mutex_);
  return started_ && !stopped_;
}

drogon::Task<> LocalQueue::publish(QueueEntry entry) {
  {
    const std::lock_guard guard(mutex_);
    if (stopped_) throw QueueUnavailable("the queue is stopped");
    waiting_.push_back(entry);
  }
  wakeAdmission();
  co_return;
}

QueueCounts LocalQueue::counts() const {
  const std::lock_guard guard(mutex_);
  return {static_cast<std::int64_t>(waiting_.size()), static_cast<std::int64_t>(inWork_)};
}

void LocalQueue::wakeAdmission() {
  {
    const std::lock_guard guard(mutex_);
    if (!started_ || stopped_ || admitting_ || waiting_.empty()) return;
    admitting_ = true;
  }
  loop_->queueInLoop([self = shared_from_this()] { self->admitAll(); });
}

drogon::Task<Admission> LocalQueue::admitPatiently(QueueEntry entry) {
  lock::Backoff pauses(kFirstPause, kLongestPause);
  while (true) {
    try {
      co_return co_await handlers_->admit(entry);
    } catch (...) {
      LOG_WARN << "entry " << entry << " could not be admitted yet: " << failureText();
    }
    const std::chrono::duration<double> pause = pauses.next(lock::randomBits());
    co_await drogon::sleepCoro(loop_, pause);
    if (!isAvailable()) co_return Admission::kOver;  // published again after the next start
  }
}

drogon::Task<> LocalQueue::giveUpPatiently(QueueEntry entry) {
  lock::Backoff pauses(kFirstPause, kLongestPause);
  while (isAvailable()) {
    try {
      co_await handlers_->giveUp(entry);
      co_return;
    } catch (...) {
      LOG_WARN << "entry " << entry << " could not be given up yet: " << failureText();
    }
    const std::chrono::duration<double> pause = pauses.next(lock::randomBits());
    co_await drogon::sleepCoro(loop_, pause);
  }
}

drogon::AsyncTask LocalQueue::admitAll() {
  const auto self = shared_from_this();
  while (true) {
    QueueEntry next = 0;
    {
      const std::lock_guard guard(mutex_);
      if (waiting_.empty() || stopped_) {
        admitting_ = false;
        break;
      }
      next = waiting_.front();
      waiting_.pop_front();
    }
    const auto began = steady_clock::now();
    const Admission admission = co_await admitPatiently(next);
    if (admission == Admission::kOver) continue;
    {
      const std::lock_guard guard(mutex_);
      work_.push_back({next});
    }
    observer_.admitted(steady_clock::now() - began);
    startWork();
  }
  quiet_.notify_all();
}

void LocalQueue::startWork() {
  while (true) {
    Work next;
    {
      const std::lock_guard guard(mutex_);
      if (work_.empty() || inWork_ >= settings_.workers || stopped_) return;
      next = work_.front();
      work_.pop_front();
      ++inWork_;
    }
    loop_->queueInLoop([self = shared_from_this(), next] { self->workOn(next); });
  }
}

drogon::AsyncTask LocalQueue::workOn(Work work) {
  const auto self = shared_from_this();
  const auto began = steady_clock::now();
  bool failed = false;
  ++work.deliveries;
  try {
    co_await handlers_->work(work.entry);
    observer_.worked(steady_clock::now() - began);
  } catch (...) {
    LOG_WARN << "work on entry " << work.entry << " failed: " << failureText();
    failed = true;
  }
  const bool isLast = work.deliveries >= settings_.deliveryLimit;
  if (failed && isLast) {
    co_await giveUpPatiently(work.entry);
    observer_.deadLettered();
  }
  if (failed && !isLast) {
    lock::Backoff pauses(kFirstPause * (1 << std::min(work.deliveries, 6)), kLongestPause);
    const std::chrono::duration<double> pause = pauses.next(lock::randomBits());
    co_await drogon::sleepCoro(loop_, pause);
    observer_.redelivered();
  }
  workEnded(failed && !isLast ? std::optional(work) : std::nullopt);
}

void LocalQueue::workEnded(std::optional<Work> again) {
  {
    const std::lock_guard guard(mutex_);
    if (again) work_.push_front(*again);
    --inWork_;
  }
  quiet_.notify_all();
  startWork();
}

void LocalQueue::stop() {
  std::unique_lock guard(mutex_);
  stopped_ = true;
  quiet_.wait_for(guard, kLastMoment, [this] { return inWork_ == 0 && !admitting_; });
}

}  // namespace festa::queue
