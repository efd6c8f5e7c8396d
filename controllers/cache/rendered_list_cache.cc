#include "controllers/cache/rendered_list_cache.h"

namespace festa {

namespace {

std::size_t bytesOf(const RenderedListCache::Key& key, const RenderedList& list) {
  return RenderedListCache::kListOverhead + key.part.size() + list.etag.size() + list.body.size() +
         list.next.size();
}

}  // namespace

// Waits while another call renders. Its outcome stays empty when it is the caller's turn.
class RenderedListCache::Turn {
 public:
  Turn(RenderedListCache& cache, const Key& key) : cache_(cache), key_(key) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    const std::lock_guard guard(cache_.mutex_);
    const auto [item, isNew] = cache_.entries_.try_emplace(key_);
    if (isNew) {
      item->second.began = cache_.time_.now();
      return false;
    }
    return isKept(item) ? takeOrRender(item) : wait(item->second, handle);
  }
  Outcome await_resume() const { return outcome_; }

 private:
  static bool isKept(Entries::iterator item) { return item->second.state == State::kKept; }

  bool takeOrRender(Entries::iterator item) {
    if (cache_.isFresh(item->second.began)) {
      outcome_.list = item->second.list;
    } else {
      cache_.drop(item);
      cache_.entries_[key_].began = cache_.time_.now();
    }
    return false;
  }

  bool wait(Entry& entry, std::coroutine_handle<> handle) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    auto& waiters = entry.state == State::kOutdated ? entry.later : entry.sharing;
    waiters.push_back({loop, handle, &outcome_});
    return true;
  }

  RenderedListCache& cache_;
  const Key& key_;
  Outcome outcome_;
};

drogon::Task<RenderedListCache::Outcome> RenderedListCache::join(Key key) {
  Turn turn(*this, key);
  co_return co_await turn;
}

void RenderedListCache::invalidate(const ListOwner& owner) {
  const std::lock_guard guard(mutex_);
  auto item = entries_.lower_bound(Key{owner, ""});
  while (item != entries_.end() && item->first.owner == owner) {
    if (item->second.state == State::kKept) {
      item = drop(item);
    } else {
      item->second.state = State::kOutdated;
      ++item;
    }
  }
}

std::size_t RenderedListCache::size() const {
  const std::lock_guard guard(mutex_);
  return entries_.size();
}

std::size_t RenderedListCache::bytes() const {
  const std::lock_guard guard(mutex_);
  return bytes_;
}

void RenderedListCache::finish(const Key& key, const Outcome& outcome) {
  std::vector<Waiter> served;
  std::vector<Waiter> next;  // at most one
  {
    const std::lock_guard guard(mutex_);
    const auto entry = entries_.find(key);
    served.swap(entry->second.sharing);
    if (entry->second.state == State::kOutdated)
      next = renderForLater(entry);
    else if (outcome.failure)
      entries_.erase(entry);
    else
      keep(entry, outcome.list);
    dropOld();
  }
  for (const auto& waiter : served) *waiter.outcome = outcome;
  served.insert(served.end(), next.begin(), next.end());
  for (const auto& waiter : served)
    waiter.loop->queueInLoop([handle = waiter.handle] { handle.resume(); });
}

// The first call after the invalidation renders; the others share that.
std::vector<RenderedListCache::Waiter> RenderedListCache::renderForLater(
    Entries::iterator outdated) {
  auto later = std::move(outdated->second.later);
  if (later.empty()) {
    entries_.erase(outdated);
    return {};
  }
  Entry again;
  again.began = time_.now();
  again.sharing.assign(later.begin() + 1, later.end());
  outdated->second = std::move(again);
  later.resize(1);
  return later;
}

void RenderedListCache::keep(Entries::iterator entry, RenderedListPtr list) {
  const auto bytes = bytesOf(entry->first, *list);
  if (bytes > settings_.maxBytes) {
    entries_.erase(entry);
    return;
  }
  entry->second.state = State::kKept;
  entry->second.list = std::move(list);
  byAge_.emplace(entry->second.began, entry->first);
  bytes_ += bytes;
}

RenderedListCache::Entries::iterator RenderedListCache::drop(Entries::iterator kept) {
  bytes_ -= bytesOf(kept->first, *kept->second.list);
  byAge_.erase({kept->second.began, kept->first});
  return entries_.erase(kept);
}

void RenderedListCache::dropOld() {
  while (!byAge_.empty() && (bytes_ > settings_.maxBytes || !isFresh(byAge_.begin()->first)))
    drop(entries_.find(byAge_.begin()->second));
}

}  // namespace festa
