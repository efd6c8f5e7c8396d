// Tells listeners the notifications of their festival.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/look_turn.h"
#include "controllers/live/reader_patience.h"
#include "controllers/live/readers.h"
#include "services/announcements/notification_service.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace trantor {
class EventLoop;
}

namespace festa {

// How a notification is written as the data of an event. Thread-safe.
class NotificationEvents {
 public:
  virtual ~NotificationEvents() = default;
  virtual std::string data(const Notification& notification) const = 0;
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
// Thread-safe.
class NotificationFeed : public std::enable_shared_from_this<NotificationFeed> {
 public:
  // Both outlive the feed.
  NotificationFeed(const NotificationService& outbox, const NotificationEvents& events)
      : outbox_(outbox), events_(events) {}

  // Once, when the loop runs; on a loop that has a database client.
  void start(trantor::EventLoop* loop);
  // Ends all streams; there will be no more.
  void close() { readers_.close(); }
  // Waits for the look under way; there will be no more. Not on the loop.
  void stop();
  bool isClosed() const { return readers_.isClosed(); }

  // Tells what is committed from now on, and before it what `resumeFrom` has not seen.
  void add(std::int64_t festivalId, std::optional<Snapshot> resumeFrom,
           std::unique_ptr<EventSink> sink);

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
  // What listeners have missed that come back with the same id.
  struct Return {
    std::int64_t number;  // of the first of them
    std::int64_t festivalId;
    Snapshot from;

    bool isOf(const Reader& reader) const {
      return reader.resumeFrom && reader.festivalId == festivalId && *reader.resumeFrom == from;
    }
  };
  class Telling;

  drogon::AsyncTask feed();
  drogon::Task<> look();
  // One page of what is new; true: it was the last.
  drogon::Task<bool> tellNews();
  // There are listeners, or the last look was long ago.
  bool isDue();
  // Says once, not five times a second, that looks fail or work again. Empty: it worked.
  void report(const std::string& failure);
  // Of listeners that have come back or caught up, as many as one look may serve, those whose turn
  // it is first.
  std::vector<Return> returns() const;
  drogon::Task<> welcomeSome();
  // One page of what they have missed; its bytes.
  drogon::Task<std::size_t> welcome(Return back);
  // Nullopt: they could not be told. Their streams are ended; they may come back.
  drogon::Task<std::optional<std::size_t>> welcomeOrEnd(Return back);
  // False: the listener has gone, or has not read for too long.
  bool goesOn(Reader& reader, Telling& telling) const;

  const NotificationService& outbox_;
  const NotificationEvents& events_;
  Readers<Reader> readers_;
  LookTurn turn_;
  std::atomic<std::int64_t> numbers_{0};
  // on the loop only
  std::optional<Snapshot> seen_;  // by the last look
  bool hasFailed_ = false;        // the last look
  int idleRounds_ = 0;
  std::int64_t lastWelcomed_ = 0;  // number of the listener whose turn was last
};

}  // namespace festa
