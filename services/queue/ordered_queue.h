// Ordered work with acknowledgement: a waiting queue whose entries are admitted one by one in their
// order, then a work queue whose entries are worked on in parallel. The owner of an entry keeps the
// data behind it in a database. A queue calls the handlers of an entry in turn, perhaps repeatedly.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace trantor {
class EventLoop;
}

namespace festa::queue {

using Millis = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;
using SteadyTime = SteadyClock::time_point;

// The broker is away, or did not confirm: the entry may or may not be in the queue.
class QueueUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using QueueEntry = std::int64_t;

enum class Admission {
  kWork,  // to the work queue
  kOver,  // there is nothing to do for it (any more)
};

// What the owner does with entries. All are started on event loops and may run for an entry that
// was seen before: after a crash, a lost acknowledgement or a second publish. Thread-safe.
// Outlives the queue, and handlers that still run when the queue is gone.
class EntryHandlers {
 public:
  virtual ~EntryHandlers() = default;
  // One at a time while this process has the waiting queue; another process may be about to lose
  // it, so the decision itself must exclude. Throws: the same entry comes again before any other.
  virtual drogon::Task<Admission> admit(QueueEntry entry) = 0;
  // Up to `workers` at a time. The entry is acknowledged when it returns, which must be after
  // COMMIT. Throws: it comes again, up to the delivery limit.
  virtual drogon::Task<> work(QueueEntry entry) = 0;
  // It has failed too often and will not come again.
  virtual drogon::Task<> giveUp(QueueEntry entry) = 0;
};

// Gets the events of entries, on any thread. Must not throw or block. Outlives the queue.
class QueueObserver {
 public:
  using Duration = std::chrono::steady_clock::duration;

  virtual ~QueueObserver() = default;
  virtual void admitted(Duration took) = 0;  // and moved on, since its turn came
  virtual void worked(Duration took) = 0;
  virtual void redelivered() = 0;  // an entry came again
  virtual void deadLettered() = 0;
};

struct QueueCounts {
  std::int64_t waiting = 0;  // known to be in the waiting queue
  std::int64_t inWork = 0;   // entries that this process works on now
};

// Thread-safe.
class OrderedQueue {
 public:
  virtual ~OrderedQueue() = default;

  // Once, when the event loops run. From now on handlers are called, on `loop`.
  virtual void start(EntryHandlers& handlers, trantor::EventLoop* loop) = 0;
  // Cheap: what is known now, without asking.
  virtual bool isAvailable() const = 0;
  // Returns when the entry is safe at the end of the waiting queue. Awaited on an event loop,
  // resumes there. Throws QueueUnavailable, at once while the broker is known to be away.
  virtual drogon::Task<> publish(QueueEntry entry) = 0;
  virtual QueueCounts counts() const = 0;
  // Takes no more entries; those in hand are finished, as far as that takes no longer than a
  // moment. Blocks; not to be called on an event loop.
  virtual void stop() = 0;
};

}  // namespace festa::queue
