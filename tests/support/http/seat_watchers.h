// Many watchers of one hall, read by one thread.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace festa::test {

using Seat = std::pair<std::string, int>;

// What events of GET /performances/{id}/seats/events say, one after the other.
class WatchedHall {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Text as it comes, with the framing of HTTP's chunks between events.
  void read(const std::string& text, Time now);

  bool hasBegun() const { return snapshots_ > 0; }
  int snapshots() const { return snapshots_; }
  int changes() const { return changes_; }
  const std::set<Seat>& sold() const { return sold_; }
  // When this watcher learnt that the seat is sold, for those it learnt after its first snapshot.
  const std::vector<std::pair<Seat, Time>>& learnt() const { return learnt_; }

 private:
  void apply(const std::string& event, Time now);
  void applySnapshot(const std::string& data, Time now);
  void add(const Seat& seat, Time now);

  std::string rest_;
  int snapshots_ = 0;
  int changes_ = 0;
  std::set<Seat> sold_;
  std::vector<std::pair<Seat, Time>> learnt_;
};

// Connects `count` watchers and reads them on a thread of its own until stop(); what they say is
// asked for by one thread. Throws
// std::runtime_error when one cannot connect.
class SeatWatchers {
 public:
  SeatWatchers(int port, std::int64_t performance, int count);
  ~SeatWatchers();
  SeatWatchers(const SeatWatchers&) = delete;
  SeatWatchers& operator=(const SeatWatchers&) = delete;

  bool allHaveBegun() const;
  // Each has this picture.
  bool allSee(const std::set<Seat>& sold) const;
  // After stop() only.
  const std::vector<WatchedHall>& halls() const;
  void stop();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace festa::test
