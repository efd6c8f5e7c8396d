#include "controllers/seat_list_cache.h"

#include <algorithm>

namespace festa {

// Waits while somebody else renders. Its outcome stays empty when it is the caller's turn.
class SeatListCache::Turn {
 public:
  Turn(SeatListCache& cache, const Key& key) : cache_(cache), key_(key) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    const std::lock_guard guard(cache_.mutex_);
    auto& entries = cache_.entries_;
    const auto found = entries.find(key_);
    if (found != entries.end() && !found->second.list) {
      auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
      found->second.waiters.push_back({loop, handle, &outcome_});
      return true;
    }
    if (found != entries.end() && cache_.isFresh(found->second))
      outcome_.list = found->second.list;
    else
      entries[key_] = Entry{cache_.settings_.now(), nullptr, {}};
    return false;
  }
  Outcome await_resume() const { return outcome_; }

 private:
  SeatListCache& cache_;
  const Key& key_;
  Outcome outcome_;
};

drogon::Task<SeatListPtr> SeatListCache::get(Key key, Render render) {
  Turn turn(*this, key);
  auto outcome = co_await turn;
  const bool isOurs = !outcome.list && !outcome.failure;
  if (isOurs) {
    try {
      outcome.list = co_await render();
    } catch (...) {
      outcome.failure = std::current_exception();
    }
    finish(key, outcome);
  }
  if (outcome.failure) std::rethrow_exception(outcome.failure);
  co_return outcome.list;
}

std::size_t SeatListCache::size() const {
  const std::lock_guard guard(mutex_);
  return entries_.size();
}

bool SeatListCache::isFresh(const Entry& entry) const {
  return settings_.now() - entry.began < settings_.maxAge;
}

void SeatListCache::finish(const Key& key, const Outcome& outcome) {
  std::vector<Waiter> waiters;
  {
    const std::lock_guard guard(mutex_);
    const auto entry = entries_.find(key);
    waiters.swap(entry->second.waiters);
    if (outcome.failure)
      entries_.erase(entry);
    else
      entry->second.list = outcome.list;
    dropStale();
  }
  for (const auto& waiter : waiters) {
    *waiter.outcome = outcome;
    waiter.loop->queueInLoop([handle = waiter.handle] { handle.resume(); });
  }
}

void SeatListCache::dropStale() {
  std::erase_if(entries_,
                [&](const auto& item) { return item.second.list && !isFresh(item.second); });
  while (entries_.size() > settings_.maxLists) {
    auto oldest = entries_.end();
    for (auto item = entries_.begin(); item != entries_.end(); ++item)
      if (item->second.list &&
          (oldest == entries_.end() || item->second.began < oldest->second.began))
        oldest = item;
    if (oldest == entries_.end()) return;
    entries_.erase(oldest);
  }
}

}  // namespace festa
