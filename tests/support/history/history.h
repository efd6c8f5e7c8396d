// What happened to locks, rows and answers, and whether it may have happened so.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace festa::test {

// Records events of one storage and says which promises they break. Thread-safe.
//
// `who` names one request: it asks for one key once, is granted at most once, stores at most one
// row and gets at most one answer. Times are of the steady clock, which all processes of a machine
// share, so that the logs of several processes can be read into one history. Events may come in any
// order.
class History {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class End { kReleased, kLost, kExpired };

  // Asked for the key: not before `sentAt`, and in line at `receivedAt`.
  void arrived(const std::string& key, const std::string& who, Time sentAt, Time receivedAt);
  // The holder has learned of its grant. `shared` is the id of a hold that several have together,
  // the same for all of them: they count as one holder. Empty: it holds the key alone.
  void granted(const std::string& key, const std::string& who, std::int64_t fence, Time at,
               const std::string& shared = "");
  // The holder stops to rely on its hold: before it sends the unlock, and no later than the lease's
  // validUntil. `fence` is that of the grant. A hold whose end is not recorded lasts for ever.
  void ended(const std::string& key, const std::string& who, std::int64_t fence, Time at, End how);
  // COMMIT was sent and acknowledged. These times are compared with each other only.
  void committed(const std::string& key, const std::string& who, std::int64_t fence,
                 const std::string& row, Time sentAt, Time acknowledgedAt);
  // `row` is what the answer names; empty: nothing.
  void answered(const std::string& who, int status, const std::string& row);

  std::string text() const;  // a line per event
  // Adds events from such text; throws std::invalid_argument with the line that is none.
  void read(std::string_view text);
  std::size_t size() const;

  struct Promises {
    bool fifo = false;  // grants in the order of arrival, as lock/grant_order.h defines it
    // After these answers a row may exist or not.
    std::set<int> unknown = {500, 502, 504};
  };
  // A sentence for each broken promise; empty: all were kept.
  std::vector<std::string> check(const Promises& promises) const;
  std::vector<std::string> check() const { return check({}); }

 private:
  enum class Kind { kArrived, kGranted, kEnded, kCommitted, kAnswered };
  // Each kind uses some of the members.
  struct Event {
    Kind kind;
    std::string key = {};
    std::string who = {};
    std::int64_t fence = 0;
    std::string shared = {};
    std::string row = {};
    int status = 0;
    Time from = {};  // sent, or when it happened
    Time to = {};    // received, acknowledged
    End how = End::kReleased;
  };
  struct Hold;
  class Checker;

  void add(Event event);
  static std::string lineOf(const Event& event);
  static Event eventOf(std::string_view line);

  mutable std::mutex mutex_;
  std::vector<Event> events_;  // guarded by mutex_
};

}  // namespace festa::test
