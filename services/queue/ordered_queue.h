// Ordered work with acknowledgement: a waiting queue whose tickets are admitted one by one in their
// order, then a work queue whose tickets are worked on in parallel. What a ticket stands for, its
// owner keeps in a database; a queue only says whose turn it is, and may say so more than once.
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

// The broker is away, or did not confirm: the ticket may or may not be in the queue.
class QueueUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using QueueTicket = std::int64_t;

enum class Admission {
  kWork,  // to the work queue
  kOver,  // there is nothing to do for it (any more)
};

// What the owner does with tickets. All are started on event loops and may run for a ticket that
// was seen before: after a crash, a lost acknowledgement or a second publish. Thread-safe.
// Outlives the queue, and handlers that still run when the queue is gone.
class TicketHandlers {
 public:
  virtual ~TicketHandlers() = default;
  // One at a time while this process has the waiting queue; another process may be about to lose
  // it, so the decision itself must exclude. Throws: the same ticket comes again before any other.
  virtual drogon::Task<Admission> admit(QueueTicket ticket) = 0;
  // Up to `workers` at a time. The ticket is acknowledged when it returns, which must be after
  // COMMIT. Throws: it comes again, up to the delivery limit.
  virtual drogon::Task<> work(QueueTicket ticket) = 0;
  // It has failed too often and will not come again.
  virtual drogon::Task<> giveUp(QueueTicket ticket) = 0;
};

// Told what happens to tickets, on any thread. Must not throw or block. Outlives the queue.
class QueueObserver {
 public:
  using Duration = std::chrono::steady_clock::duration;

  virtual ~QueueObserver() = default;
  virtual void admitted(Duration took) = 0;  // and moved on, since its turn came
  virtual void worked(Duration took) = 0;
  virtual void redelivered() = 0;  // a ticket came again
  virtual void deadLettered() = 0;
};

struct QueueCounts {
  std::int64_t waiting = 0;  // known to be in the waiting queue
  std::int64_t inWork = 0;   // tickets that this process works on now
};

// Thread-safe.
class OrderedQueue {
 public:
  virtual ~OrderedQueue() = default;

  // Once, when the event loops run. From now on handlers are called, on `loop`.
  virtual void start(TicketHandlers& handlers, trantor::EventLoop* loop) = 0;
  // Cheap: what is known now, without asking.
  virtual bool isAvailable() const = 0;
  // Returns when the ticket is safe at the end of the waiting queue. Awaited on an event loop,
  // resumes there. Throws QueueUnavailable, at once while the broker is known to be away.
  virtual drogon::Task<> publish(QueueTicket ticket) = 0;
  virtual QueueCounts counts() const = 0;
  // Takes no more tickets; those in hand are finished, as far as that takes no longer than a
  // moment. Blocks; not to be called on an event loop.
  virtual void stop() = 0;
};

}  // namespace festa::queue
