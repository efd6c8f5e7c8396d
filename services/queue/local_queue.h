// The queue in the memory of one process.
#pragma once

#include "services/queue/ordered_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace trantor {
class EventLoop;
}

namespace festa::queue {

struct LocalQueueSettings {
  std::size_t workers = 4;
  int deliveryLimit = 5;
};

// Keeps its entries in memory: after a restart the caller publishes unfinished entries again.
// Handlers run on the loop that is given to start(); that loop must outlive the queue.
class LocalQueue : public OrderedQueue, public std::enable_shared_from_this<LocalQueue> {
 public:
  static std::shared_ptr<LocalQueue> create(LocalQueueSettings settings, QueueObserver& observer);

  void start(EntryHandlers& handlers, trantor::EventLoop* loop) override;
  bool isAvailable() const override;
  drogon::Task<> publish(QueueEntry entry) override;
  QueueCounts counts() const override;
  void stop() override;

 private:
  struct Work {
    QueueEntry entry;
    int deliveries = 0;
  };

  LocalQueue(LocalQueueSettings settings, QueueObserver& observer);

  // On the loop; each keeps the queue alive.
  drogon::AsyncTask admitAll();
  drogon::AsyncTask workOn(Work work);
  drogon::Task<Admission> admitPatiently(QueueEntry entry);
  drogon::Task<> giveUpPatiently(QueueEntry entry);
  void wakeAdmission();
  void startWork();
  void workEnded(std::optional<Work> again);

  const LocalQueueSettings settings_;
  QueueObserver& observer_;
  // set by start()
  trantor::EventLoop* loop_ = nullptr;
  EntryHandlers* handlers_ = nullptr;

  mutable std::mutex mutex_;
  std::condition_variable quiet_;
  // guarded by mutex_
  std::deque<QueueEntry> waiting_;
  std::deque<Work> work_;
  std::size_t inWork_ = 0;
  bool admitting_ = false;
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace festa::queue
