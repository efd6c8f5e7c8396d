// Acquire, run, release: the lock around a piece of work.
#pragma once

#include "lock/engine/watchdog.h"
#include "lock/lock_board.h"
#include "lock/lock_hold.h"
#include "lock/lock_observer.h"
#include "lock/lockable.h"

#include <drogon/HttpRequest.h>
#include <drogon/utils/coroutine.h>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

namespace festa::lock {

// One per Lockable. Immutable, thread-safe. `board` and `observer` outlive it; the observer also
// outlives renewals that are still on their way when the work is over.
//
// Requests over the limit of holders are refused before they queue; a waiter that is granted may
// exceed the limit by at most one per key. A lease that is over when it arrives (the loop was
// blocked, the reply was slow) is given back, and the request asks again while its wait lasts;
// without a wait, once more. With a maxHold the lease is renewed while the work runs.
class LockFilter {
 public:
  LockFilter(Lockable lockable, LockBoard& board, LockObserver& observer)
      : lockable_(std::move(lockable)), board_(board), observer_(observer) {}

  const Lockable& lockable() const { return lockable_; }

  // Runs `work(LockHold&) -> Task<T>` under the key and returns its value, or the
  // outcome for which it was not run. The key is given back whatever the work does or throws, after
  // it has ended; only a hold marked leaveToExpire() stays until its lease ends. A strategy without
  // storage takes no key. Throws what the work throws. The request is for the observer. Awaited on
  // an event loop's thread; resumes there if the work does.
  template <class Work>
  auto run(drogon::HttpRequestPtr request, Strategy strategy, LockKey key, Work& work) const
      -> drogon::Task<std::variant<LockOutcome, std::decay_t<drogon::await_result_t<
                                                    std::invoke_result_t<Work&, LockHold&>>>>> {
    using Result = std::decay_t<drogon::await_result_t<std::invoke_result_t<Work&, LockHold&>>>;
    Passage passage(*this, std::move(strategy), std::move(key));
    const auto refusal = co_await acquire(passage);
    if (refusal) {
      tellRefused(request, passage, *refusal);
      co_return *refusal;
    }
    std::optional<Result> result;
    std::exception_ptr failure;
    try {
      result = co_await work(*passage.hold);
    } catch (...) {
      failure = std::current_exception();
    }
    co_await release(request, passage);
    if (failure) std::rethrow_exception(failure);
    co_return std::move(*result);
  }

 private:
  // One request on its way through.
  struct Passage {
    Passage(const LockFilter& filter, Strategy strategy, LockKey key);

    const SteadyTime arrived = SteadyClock::now();
    const std::shared_ptr<LockHold> hold;  // shared with the watchdog's renewal
    std::optional<LockBoard::Entry> entry;
    SteadyTime granted{};
    std::shared_ptr<Watchdog> watchdog;  // null: the lease is never renewed
  };

  drogon::Task<std::optional<LockOutcome>> acquire(Passage& passage) const;
  drogon::Task<std::optional<LockOutcome>> takeKey(LockHold& hold) const;
  drogon::Task<std::optional<Lease>> takeInTime(const LockHold& hold) const;
  std::shared_ptr<Watchdog> watch(const Passage& passage) const;
  drogon::Task<> release(drogon::HttpRequestPtr request, Passage& passage) const;
  void tellRefused(const drogon::HttpRequestPtr& request, const Passage& passage,
                   LockOutcome outcome) const;

  const Lockable lockable_;
  LockBoard& board_;
  LockObserver& observer_;
};

}  // namespace festa::lock
