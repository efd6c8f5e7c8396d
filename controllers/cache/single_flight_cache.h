// Values that many ask for at the same time and that take a while to make.
#pragma once

#include "services/time_source.h"

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace festa {

// The size of each value is one: a cache's room is a number of values.
template <class Key, class Value>
struct OneEach {
  std::size_t operator()(const Key&, const Value&) const { return 1; }
};

// One value per key is made at a time, and none while the last one is younger than `maxAge`: all
// other calls get that one. A call after invalidate() never gets what was made, or began to be
// made, before it. Keeps the newest values that fit into `room`. Keys are ordered; values are
// copied to all who ask. Thread-safe; get() is awaited on an event loop's thread and resumes on
// that loop. Must outlive what awaits it.
template <class Key, class Value, class SizeOf = OneEach<Key, Value>>
class SingleFlightCache {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class AgeFrom {
    kBegin,  // the value is never older than what was read when its making began
    kEnd,    // makings that take long have a pause between them all the same
  };
  struct Settings {
    std::chrono::milliseconds maxAge;
    std::size_t room;  // for the sizes of all values that are kept
    AgeFrom ageFrom = AgeFrom::kBegin;
  };

  explicit SingleFlightCache(Settings settings, const TimeSource& time = kSteadyTime)
      : settings_(settings), time_(time) {}
  SingleFlightCache(const SingleFlightCache&) = delete;
  SingleFlightCache& operator=(const SingleFlightCache&) = delete;

  // The value of this key, by `make() -> Task<Value>` if there is none; `make` must resume on the
  // loop on which it was called. Throws what `make` throws, in every call that waited for it;
  // failures are not kept.
  template <class Make>
  drogon::Task<Value> get(Key key, Make make) {
    Turn turn(*this, key);
    Outcome outcome = co_await turn;
    const bool isOurs = !outcome.value && !outcome.failure;
    if (isOurs) {
      try {
        outcome.value = co_await make();
      } catch (...) {
        outcome.failure = std::current_exception();
      }
      finish(key, outcome);
    }
    if (outcome.failure) std::rethrow_exception(outcome.failure);
    co_return std::move(*outcome.value);
  }

  // Forgets the values from the key `first` on, as far as `belongs(key)` holds. Calls that wait for
  // one of them still get it: they began before the invalidation.
  template <class Belongs>
  void invalidate(const Key& first, Belongs belongs) {
    const std::lock_guard guard(mutex_);
    auto item = entries_.lower_bound(first);
    while (item != entries_.end() && belongs(item->first)) {
      if (item->second.state == State::kKept) {
        item = drop(item);
      } else {
        item->second.state = State::kOutdated;
        ++item;
      }
    }
  }

  // How many values are kept or being made.
  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return entries_.size();
  }
  // The sum of the sizes of those that are kept.
  std::size_t used() const {
    const std::lock_guard guard(mutex_);
    return used_;
  }

 private:
  struct Outcome {
    std::optional<Value> value;  // none without failure: it is the caller's turn to make it
    std::exception_ptr failure;
  };
  struct Waiter {
    trantor::EventLoop* loop;
    std::coroutine_handle<> handle;
    Outcome* outcome;
  };
  enum class State {
    kMaking,
    kOutdated,  // being made, and invalidated since that began
    kKept,
  };
  struct Entry {
    State state = State::kMaking;
    Time born;                    // see AgeFrom
    std::optional<Value> value;   // set while it is kept
    std::vector<Waiter> sharing;  // get what is being made
    std::vector<Waiter> later;    // asked after the invalidation, and need another one
  };
  using Entries = std::map<Key, Entry>;

  // Waits while another call makes the value.
  class Turn {
   public:
    Turn(SingleFlightCache& cache, const Key& key) : cache_(cache), key_(key) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle) {
      const std::lock_guard guard(cache_.mutex_);
      const auto found = cache_.entries_.find(key_);
      if (found != cache_.entries_.end() && found->second.state != State::kKept) {
        auto& entry = found->second;
        auto& waiters = entry.state == State::kOutdated ? entry.later : entry.sharing;
        waiters.push_back({trantor::EventLoop::getEventLoopOfCurrentThread(), handle, &outcome_});
        return true;
      }
      if (found != cache_.entries_.end() && cache_.isFresh(found->second.born)) {
        outcome_.value = found->second.value;
      } else {
        if (found != cache_.entries_.end()) cache_.drop(found);
        cache_.entries_[key_].born = cache_.time_.now();
      }
      return false;
    }
    Outcome await_resume() { return std::move(outcome_); }

   private:
    SingleFlightCache& cache_;
    const Key& key_;
    Outcome outcome_;
  };

  void finish(const Key& key, const Outcome& outcome) {
    std::vector<Waiter> served;
    std::optional<Waiter> next;
    {
      const std::lock_guard guard(mutex_);
      const auto entry = entries_.find(key);
      served.swap(entry->second.sharing);
      if (entry->second.state == State::kOutdated)
        next = makeForLater(entry);
      else if (outcome.failure)
        entries_.erase(entry);
      else
        keep(entry, *outcome.value);
      dropOld();
    }
    for (const auto& waiter : served) *waiter.outcome = outcome;
    if (next) served.push_back(*next);
    for (const auto& waiter : served)
      waiter.loop->queueInLoop([handle = waiter.handle] { handle.resume(); });
  }

  // Callers of these hold mutex_.
  bool isFresh(Time born) const { return time_.now() - born < settings_.maxAge; }

  // Returns the first call after the invalidation, which makes the value; the others share it.
  std::optional<Waiter> makeForLater(typename Entries::iterator outdated) {
    auto later = std::move(outdated->second.later);
    if (later.empty()) {
      entries_.erase(outdated);
      return std::nullopt;
    }
    Entry again;
    again.born = time_.now();
    again.sharing.assign(later.begin() + 1, later.end());
    outdated->second = std::move(again);
    return later.front();
  }

  void keep(typename Entries::iterator item, const Value& value) {
    auto& entry = item->second;
    const auto size = SizeOf()(item->first, value);
    if (size > settings_.room) {
      entries_.erase(item);
      return;
    }
    if (settings_.ageFrom == AgeFrom::kEnd) entry.born = time_.now();
    entry.state = State::kKept;
    entry.value = value;
    byAge_.emplace(entry.born, item->first);
    used_ += size;
  }

  typename Entries::iterator drop(typename Entries::iterator kept) {
    used_ -= SizeOf()(kept->first, *kept->second.value);
    byAge_.erase({kept->second.born, kept->first});
    return entries_.erase(kept);
  }

  // Those that are too old, and the oldest ones beyond the room.
  void dropOld() {
    while (!byAge_.empty() && (used_ > settings_.room || !isFresh(byAge_.begin()->first)))
      drop(entries_.find(byAge_.begin()->second));
  }

  const Settings settings_;
  const TimeSource& time_;
  mutable std::mutex mutex_;
  Entries entries_;                       // guarded by mutex_
  std::set<std::pair<Time, Key>> byAge_;  // those that are kept; guarded by mutex_
  std::size_t used_ = 0;                  // guarded by mutex_
};

}  // namespace festa
