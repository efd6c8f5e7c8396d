// The owner of entries for tests: counts what the queue says, and can be told to be slow or to
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
  using QueueEntry = queue::QueueEntry;

  std::atomic<bool> admissionsWait{false};
  std::atomic<bool> workWaits{false};
  std::atomic<int> failedAdmissions{0};  // the next ones throw
  std::atomic<int> failedWorks{0};
  std::atomic<int> failedGiveUps{0};

  // A handler may still run when its test is over.
  queue::EntryHandlers& handlers(const std::string& desk = "") {
    return keptForever(std::make_unique<Desk>(shared_from_this(), desk));
  }

  // Each entry where it was first decided.
  std::vector<QueueEntry> admitted() const {
    std::vector<QueueEntry> order;
    std::set<QueueEntry> known;
    for (const auto entry : calls("admit"))
      if (known.insert(entry).second) order.push_back(entry);
    return order;
  }
  // All calls of a handler that began, in their order.
  std::vector<QueueEntry> calls(const std::string& handler) const {
    const std::lock_guard guard(mutex_);
    const auto found = calls_.find(handler);
    return found == calls_.end() ? std::vector<QueueEntry>{} : found->second;
  }
  std::vector<QueueEntry> admittedAt(const std::string& desk) const {
    return calls("admit at " + desk);
  }
  std::set<QueueEntry> worked() const {
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
    Call(Clerk& clerk, std::string handler, QueueEntry entry)
        : clerk_(clerk), handler_(std::move(handler)) {
      const std::lock_guard guard(clerk_.mutex_);
      clerk_.calls_[handler_].push_back(entry);
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

  class Desk : public queue::EntryHandlers {
   public:
    Desk(std::shared_ptr<Clerk> clerk, std::string name)
        : clerk_(std::move(clerk)), name_(std::move(name)) {}
    drogon::Task<queue::Admission> admit(QueueEntry entry) override {
      return Clerk::admit(clerk_, name_, entry);
    }
    drogon::Task<> work(QueueEntry entry) override { return Clerk::work(clerk_, entry); }
    drogon::Task<> giveUp(QueueEntry entry) override { return Clerk::giveUp(clerk_, entry); }

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
                                              QueueEntry entry) {
    const Call call(*self, "admit", entry);
    const Call atDesk(*self, "admit at " + desk, entry);
    co_await whileSet(self->admissionsWait);
    failIf(self->failedAdmissions);
    // Negative entries came too late.
    co_return entry < 0 ? queue::Admission::kOver : queue::Admission::kWork;
  }
  static drogon::Task<> work(std::shared_ptr<Clerk> self, QueueEntry entry) {
    const Call call(*self, "work", entry);
    co_await whileSet(self->workWaits);
    failIf(self->failedWorks);
    const std::lock_guard guard(self->mutex_);
    self->worked_.insert(entry);
  }
  static drogon::Task<> giveUp(std::shared_ptr<Clerk> self, QueueEntry entry) {
    const Call call(*self, "giveUp", entry);
    failIf(self->failedGiveUps);
    co_return;
  }

  int at(const std::map<std::string, int>& counts, const std::string& handler) const {
    const std::lock_guard guard(mutex_);
    const auto found = counts.find(handler);
    return found == counts.end() ? 0 : found->second;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<QueueEntry>> calls_;  // this and all below: guarded by mutex_
  std::map<std::string, int> running_;
  std::map<std::string, int> most_;
  std::map<std::string, std::chrono::steady_clock::time_point> ended_;
  std::map<std::string, std::vector<queue::QueueObserver::Duration>> pauses_;
  std::set<QueueEntry> worked_;
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
