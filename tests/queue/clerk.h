// The owner of tickets for tests: counts what the queue says, and can be told to be slow or to
// fail.
#pragma once

#include "services/queue/ordered_queue.h"
#include "tests/support/kept_forever.h"
#include "tests/support/loops.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace festa::test {

// Thread-safe. One clerk may serve several queues, as one database serves several processes.
class Clerk : public std::enable_shared_from_this<Clerk> {
 public:
  using QueueTicket = queue::QueueTicket;

  std::atomic<bool> admissionsWait{false};
  std::atomic<bool> workWaits{false};
  std::atomic<int> failedAdmissions{0};  // the next ones throw
  std::atomic<int> failedWorks{0};
  std::atomic<int> failedGiveUps{0};

  // A handler may still run when its test is over.
  queue::TicketHandlers& handlers(const std::string& desk = "") {
    return keptForever(std::make_unique<Desk>(shared_from_this(), desk));
  }

  // Each ticket where it was first decided.
  std::vector<QueueTicket> admitted() const {
    std::vector<QueueTicket> order;
    std::set<QueueTicket> known;
    for (const auto ticket : calls("admit"))
      if (known.insert(ticket).second) order.push_back(ticket);
    return order;
  }
  // All calls of a handler that began, in their order.
  std::vector<QueueTicket> calls(const std::string& handler) const {
    const std::lock_guard guard(mutex_);
    const auto found = calls_.find(handler);
    return found == calls_.end() ? std::vector<QueueTicket>{} : found->second;
  }
  std::vector<QueueTicket> admittedAt(const std::string& desk) const {
    return calls("admit at " + desk);
  }
  std::set<QueueTicket> worked() const {
    const std::lock_guard guard(mutex_);
    return worked_;
  }
  int running(const std::string& handler) const { return at(running_, handler); }
  int mostRunning(const std::string& handler) const { return at(most_, handler); }
  // From the end of a call to the begin of the next, where they do not overlap.
  std::vector<queue::QueueObserver::Duration> pausesBetween(const std::string& handler) const {
    const std::lock_guard guard(mutex_);
    return pauses_.at(handler);
  }

 private:
  class Call {
   public:
    Call(Clerk& clerk, std::string handler, QueueTicket ticket)
        : clerk_(clerk), handler_(std::move(handler)) {
      const std::lock_guard guard(clerk_.mutex_);
      clerk_.calls_[handler_].push_back(ticket);
      const auto ended = clerk_.ended_.find(handler_);
      if (ended != clerk_.ended_.end())
        clerk_.pauses_[handler_].push_back(std::chrono::steady_clock::now() - ended->second);
      const int now = ++clerk_.running_[handler_];
      clerk_.most_[handler_] = std::max(clerk_.most_[handler_], now);
    }
    ~Call() {
      const std::lock_guard guard(clerk_.mutex_);
      --clerk_.running_[handler_];
      clerk_.ended_[handler_] = std::chrono::steady_clock::now();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Clerk& clerk_;
    const std::string handler_;
  };

  class Desk : public queue::TicketHandlers {
   public:
    Desk(std::shared_ptr<Clerk> clerk, std::string name)
        : clerk_(std::move(clerk)), name_(std::move(name)) {}
    drogon::Task<queue::Admission> admit(QueueTicket ticket) override {
      return Clerk::admit(clerk_, name_, ticket);
    }
    drogon::Task<> work(QueueTicket ticket) override { return Clerk::work(clerk_, ticket); }
    drogon::Task<> giveUp(QueueTicket ticket) override { return Clerk::giveUp(clerk_, ticket); }

   private:
    const std::shared_ptr<Clerk> clerk_;
    const std::string name_;
  };

  static drogon::Task<> whileSet(const std::atomic<bool>& waits) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    const std::chrono::duration<double> pause(0.002);
    while (waits) co_await drogon::sleepCoro(loop, pause);
  }
  static void failIf(std::atomic<int>& failures) {
    if (failures > 0) {
      // Handlers may throw anything.
      if (failures-- % 2 == 1) throw 42;
      throw std::runtime_error("as told");
    }
  }

  static drogon::Task<queue::Admission> admit(std::shared_ptr<Clerk> self, std::string desk,
                                              QueueTicket ticket) {
    const Call call(*self, "admit", ticket);
    const Call atDesk(*self, "admit at " + desk, ticket);
    co_await whileSet(self->admissionsWait);
    failIf(self->failedAdmissions);
    // Negative tickets came too late.
    co_return ticket < 0 ? queue::Admission::kOver : queue::Admission::kWork;
  }
  static drogon::Task<> work(std::shared_ptr<Clerk> self, QueueTicket ticket) {
    const Call call(*self, "work", ticket);
    co_await whileSet(self->workWaits);
    failIf(self->failedWorks);
    const std::lock_guard guard(self->mutex_);
    self->worked_.insert(ticket);
  }
  static drogon::Task<> giveUp(std::shared_ptr<Clerk> self, QueueTicket ticket) {
    const Call call(*self, "giveUp", ticket);
    failIf(self->failedGiveUps);
    co_return;
  }

  int at(const std::map<std::string, int>& counts, const std::string& handler) const {
    const std::lock_guard guard(mutex_);
    const auto found = counts.find(handler);
    return found == counts.end() ? 0 : found->second;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<QueueTicket>> calls_;  // this and all below: guarded by mutex_
  std::map<std::string, int> running_;
  std::map<std::string, int> most_;
  std::map<std::string, std::chrono::steady_clock::time_point> ended_;
  std::map<std::string, std::vector<queue::QueueObserver::Duration>> pauses_;
  std::set<QueueTicket> worked_;
};

class CountingObserver : public queue::QueueObserver {
 public:
  void admitted(Duration /*waited*/) override { ++admissions; }
  void worked(Duration /*took*/) override { ++works; }
  void redelivered() override { ++redeliveries; }
  void deadLettered() override { ++deadLetters; }

  std::atomic<int> admissions{0};
  std::atomic<int> works{0};
  std::atomic<int> redeliveries{0};
  std::atomic<int> deadLetters{0};
};

}  // namespace festa::test
