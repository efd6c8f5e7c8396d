// The readers of one feed, and how long they are waited for.
#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace festa {

// How long a stream waits for a reader that takes less than it is sent. The same for all streams.
// Pure; not thread-safe.
class ReaderPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kLongest{10};

  // Returns false once the reader has been behind at every call for kLongest.
  bool lasts(Time now, bool isBehind) {
    if (!isBehind) {
      behindSince_.reset();
      return true;
    }
    if (!behindSince_) behindSince_ = now;
    return now - *behindSince_ < kLongest;
  }

 private:
  std::optional<Time> behindSince_;
};

// A list of readers that can be closed for good. A Reader owns its EventSink; destroying the reader
// ends its stream, which happens outside the lock. Thread-safe.
template <class Reader>
class Readers {
 public:
  // Ends the reader's stream at once after close().
  void add(Reader reader) {
    add(std::move(reader), [](Reader&) { return true; });
  }
  // Its stream also ends at once if `begins(reader)` is false, which is called where no look comes
  // between: whatever happens after it is told to the reader.
  template <class Begins>
  void add(Reader reader, Begins begins) {
    const std::lock_guard guard(mutex_);
    if (!closed_ && begins(reader)) readers_.push_back(std::move(reader));
  }

  // Ends all streams; there will be no more.
  void close() {
    std::list<Reader> ended;
    const std::lock_guard guard(mutex_);
    closed_ = true;
    ended.swap(readers_);
  }

  bool isClosed() const {
    const std::lock_guard guard(mutex_);
    return closed_;
  }

  // Calls `stays(reader)` for each and ends the streams for which it is false.
  template <class Stays>
  void keepIf(Stays stays) {
    std::list<Reader> ended;
    const std::lock_guard guard(mutex_);
    for (auto at = readers_.begin(); at != readers_.end();) {
      const auto reader = at++;
      if (!stays(*reader)) ended.splice(ended.end(), readers_, reader);
    }
  }

  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return readers_.size();
  }

  template <class Look>
  void each(Look look) const {
    const std::lock_guard guard(mutex_);
    for (const auto& reader : readers_) look(reader);
  }

 private:
  mutable std::mutex mutex_;
  std::list<Reader> readers_;  // guarded by mutex_
  bool closed_ = false;        // guarded by mutex_
};

}  // namespace festa
