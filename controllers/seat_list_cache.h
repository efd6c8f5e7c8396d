// The rendered seat lists that are asked for again and again while a sale is on.
#pragma once

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace festa {

struct SeatList {
  std::string etag;
  std::string body;
};
using SeatListPtr = std::shared_ptr<const SeatList>;

// One rendering per key at a time, and none while the last one began less than `maxAge` ago:
// everybody else gets that one. Keeps at most `maxLists`. Thread-safe; awaited on an event loop's
// thread, resumes on that loop. Must outlive what awaits it.
class SeatListCache {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Key = std::pair<std::int64_t, std::string>;  // performance, location
  using Render = std::function<drogon::Task<SeatListPtr>()>;

  struct Settings {
    std::chrono::milliseconds maxAge{100};
    std::size_t maxLists = 64;
    std::function<Time()> now = std::chrono::steady_clock::now;
  };

  explicit SeatListCache(Settings settings) : settings_(std::move(settings)) {}

  // Throws what `render` throws, to all who waited for it; failures are not kept.
  drogon::Task<SeatListPtr> get(Key key, Render render);

  std::size_t size() const;  // lists kept or being rendered

 private:
  struct Outcome {
    SeatListPtr list;  // null: failed
    std::exception_ptr failure;
  };
  struct Waiter {
    trantor::EventLoop* loop;
    std::coroutine_handle<> handle;
    Outcome* outcome;
  };
  struct Entry {
    Time began;
    SeatListPtr list;             // null: being rendered
    std::vector<Waiter> waiters;  // of a list being rendered
  };
  class Turn;

  bool isFresh(const Entry& entry) const;
  void finish(const Key& key, const Outcome& outcome);
  void dropStale();  // and the oldest ones beyond the limit

  const Settings settings_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;  // guarded by mutex_
};

}  // namespace festa
