// The rendered lists that are asked for again and again: seats while a sale is on, announcements.
#pragma once

#include "controllers/cache/rendered_list.h"
#include "services/time_source.h"

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace festa {

enum class ListKind {
  kAnnouncements,
  kPerformances,  // all of them; the owner's id is 0
  kPerformance,   // one
  kSeats,
  kSeatPicture,
  kLineups,
  kSchedule,  // the dates of a festival; with an event date's id, the events of that date
  kQuestions,
  kLostItems,
};

// What a list belongs to: a festival or a performance.
struct ListOwner {
  ListKind kind;
  std::int64_t id;

  bool operator==(const ListOwner&) const = default;
  bool operator<(const ListOwner& other) const {
    return std::tie(kind, id) < std::tie(other.kind, other.id);
  }
};

// One rendering per key at a time, and none while the last one began less than `maxAge` ago:
// all other calls get that one. A call after invalidate() never gets what was rendered, or began to
// be rendered, before it. Keeps at most `maxBytes`, the newest lists. Thread-safe; get() is
// awaited on an event loop's thread and resumes on that loop. Must outlive what awaits it.
class RenderedListCache {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Key {
    ListOwner owner;
    std::string part;  // a page or a section; empty: the first or all

    bool operator==(const Key&) const = default;
    bool operator<(const Key& other) const {
      return std::tie(owner, part) < std::tie(other.owner, other.part);
    }
  };

  struct Settings {
    std::chrono::milliseconds maxAge{100};
    std::size_t maxBytes = 64UL * 1024 * 1024;
  };

  // Counted for each list that is kept, in addition to its texts.
  static constexpr std::size_t kListOverhead = 512;

  explicit RenderedListCache(Settings settings, const TimeSource& time = kSteadyTime)
      : settings_(settings), time_(time) {}

  // The list of this key, by `render() -> Task<RenderedListPtr>` if there is none. Throws what
  // `render` throws, in every call that waited for it; failures are not kept.
  template <class Render>
  drogon::Task<RenderedListPtr> get(Key key, Render render) {
    auto outcome = co_await join(key);
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

  // Call it when a change of the owner's lists is committed and before its answer is sent. Calls
  // that wait for a rendering still get that one: they began before the change was answered.
  void invalidate(const ListOwner& owner);

  std::size_t size() const;   // lists kept or being rendered
  std::size_t bytes() const;  // of the lists that are kept

 private:
  struct Outcome {
    RenderedListPtr list;        // null without failure: it is the caller's turn to render
    std::exception_ptr failure;  // of the rendering
  };
  struct Waiter {
    trantor::EventLoop* loop;
    std::coroutine_handle<> handle;
    Outcome* outcome;
  };
  enum class State {
    kRendering,
    kOutdated,  // being rendered, and invalidated since that began
    kKept,
  };
  struct Entry {
    State state = State::kRendering;
    Time began;                   // of the rendering
    RenderedListPtr list;         // of kKept
    std::vector<Waiter> sharing;  // get the outcome of the running rendering
    std::vector<Waiter> later;    // of kOutdated: asked after the invalidation, need another one
  };
  using Entries = std::map<Key, Entry>;
  class Turn;

  // Callers of these hold mutex_.
  bool isFresh(Time began) const { return time_.now() - began < settings_.maxAge; }
  void keep(Entries::iterator entry, RenderedListPtr list);
  Entries::iterator drop(Entries::iterator kept);
  void dropOld();  // stale ones, and the oldest ones beyond the limit
  std::vector<Waiter> renderForLater(Entries::iterator outdated);

  // Waits for a rendering that is under way, or begins one.
  drogon::Task<Outcome> join(Key key);
  void finish(const Key& key, const Outcome& outcome);

  const Settings settings_;
  const TimeSource& time_;
  mutable std::mutex mutex_;
  Entries entries_;                       // guarded by mutex_
  std::set<std::pair<Time, Key>> byAge_;  // the kept ones; guarded by mutex_
  std::size_t bytes_ = 0;                 // of the kept ones; guarded by mutex_
};

}  // namespace festa
