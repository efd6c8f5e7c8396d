// Tells listeners the notifications of their festival.
#pragma once

#include "controllers/http/asked.h"
#include "controllers/live/event_sink.h"
#include "controllers/live/readers.h"
#include "services/announcements/notification_service.h"
#include "services/periodic_task.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace festa {

// Who listens: to which festival, and from where on.
struct ListenerQuery {
  std::int64_t festivalId;
  std::optional<Snapshot> resumeFrom;
};

// Reads the query or header `festival`, and `Last-Event-ID`. Throws ServiceError.
ListenerQuery parseListener(const Asked& asked);

// How much one look of the feed may do. Pure; not thread-safe.
class LookBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::size_t reads;
    std::size_t bytes;
    std::chrono::milliseconds time;
  };

  LookBudget(Limits limits, Time began) : limits_(limits), began_(began) {}

  // One statement has been answered with so much text.
  void read(std::size_t bytes) {
    ++reads_;
    bytes_ += bytes;
  }
  // What is left waits for the next look.
  bool isSpent(Time now) const {
    return reads_ >= limits_.reads || bytes_ >= limits_.bytes || now - began_ >= limits_.time;
  }

 private:
  const Limits limits_;
  const Time began_;
  std::size_t reads_ = 0;
  std::size_t bytes_ = 0;
};

// Each instance looks into the outbox five times a second, and every two seconds while it has no
// listeners. A look finds what the one before has not seen, so that rows are told that are
// committed in another order than that of their ids. An event's id is the snapshot of a listener
// that has been told everything up to it: one that comes back with it, to any instance, is told
// what it has not seen, in pages. It may be told the same notification twice. A listener gets its
// first id with the first look, and a new one every ten seconds. One that takes less than it is
// sent is told nothing more until it has caught up, and is ended when that takes ten seconds; it
// can come back. What a look does for listeners that come back is bounded (kReturnWork): they take
// turns, those that have missed the same are told by one read, and others are not kept waiting.
// Thread-safe. The website starts it on an IO loop, closes it when it refuses requests, and stops
// it before the database clients end.
class NotificationFeed : public PeriodicTask {
 public:
  // `outbox` outlives stop().
  explicit NotificationFeed(const NotificationService& outbox);

  // Ends all streams; there will be no more.
  void close() { readers_.close(); }
  bool isClosed() const { return readers_.isClosed(); }

  // Tells what is committed from now on, and before it what `resumeFrom` has not seen.
  void add(ListenerQuery listener, std::unique_ptr<EventSink> sink);

 private:
  struct Reader {
    std::int64_t number;
    std::int64_t festivalId;
    // Set until the listener has been told what this has not seen.
    std::optional<Snapshot> resumeFrom = {};
    // What it had seen then: the next look may find some of that again.
    std::optional<Snapshot> told = {};
    std::unique_ptr<EventSink> sink;
    ReaderPatience patience;
    int quietRounds = 0;
  };
  // What is missed by all listeners that come back with the same id.
  struct Return {
    std::int64_t number;  // the one of the first of these listeners
    std::int64_t festivalId;
    Snapshot from;

    bool isOf(const Reader& reader) const {
      return reader.resumeFrom && reader.festivalId == festivalId && *reader.resumeFrom == from;
    }
  };
  class Telling;

  // Returns whether there are listeners, or the last look was long ago.
  bool isDue() override;
  drogon::Task<> work() override;
  // Tells one page of what is new. Returns whether it was the last.
  drogon::Task<bool> tellNews();
  // What the listeners have missed that have come back or caught up: as much as one look may serve,
  // those whose turn it is first.
  std::vector<Return> returns() const;
  drogon::Task<> welcomeSome();
  // Tells them one page of what they have missed. Returns its bytes.
  drogon::Task<std::size_t> welcome(Return back);
  // The same, but ends their streams and returns nullopt when that fails: they may come back.
  drogon::Task<std::optional<std::size_t>> welcomeOrEnd(Return back);
  // Returns false when the listener has gone, or has not read for too long.
  bool goesOn(Reader& reader, Telling& telling) const;

  const NotificationService& outbox_;
  Readers<Reader> readers_;
  std::atomic<std::int64_t> numbers_{0};
  // on the loop only
  std::optional<Snapshot> seen_;  // by the last look
  int idleRounds_ = 0;
  std::int64_t lastWelcomed_ = 0;  // number of the listener whose turn was last
};

}  // namespace festa
