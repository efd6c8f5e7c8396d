// What is known of a race since its start, as JSON and as events for its watchers.
#pragma once

#include "app/lab/race/race_findings.h"
#include "app/lab/race/race_plan.h"
#include "app/lab/race/race_stage.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace festa {

// What is known when a strategy's run is over.
struct RaceResult {
  std::vector<RaceFact> facts;  // what the database says
  RaceFindings findings;
  // Commands that the lock's Redis servers got meanwhile; nullopt: the strategy uses none, or one
  // was away.
  std::optional<std::int64_t> redisCommands;
  bool isProtected = false;  // see protects()

  bool holds() const;  // all facts do
};

// Thread-safe. Bounded by the wish: two strategies, kMostRacePeople lanes each.
class RaceRecord {
 public:
  // What follows the one before in a stream of events.
  using Events = std::vector<std::string>;

  RaceRecord(std::int64_t id, RaceWish wish, RacePlan plan);

  std::int64_t id() const { return id_; }
  const RaceWish& wish() const { return wish_; }
  const RacePlan& plan() const { return plan_; }

  // In this order, for each strategy of the wish. `start`: the moment that lanes count from.
  void begin(std::int64_t start);
  void sent(std::int64_t person, std::int64_t at);
  void answered(RaceLane lane);
  std::vector<RaceLane> lanes() const;  // the strategy's that runs
  std::int64_t accepted() const;        // the same
  void judged(RaceResult result);
  // At the end. `failure`: why it could not be run to its end; "": it was.
  void finish(std::string failure);

  bool isOver() const;
  // Makes an event of what came in since the last call; called regularly while it runs.
  void flush();
  // Returns the events from number `from` on.
  Events eventsSince(std::size_t from) const;

  std::string json() const;     // all of it, lanes included
  std::string summary() const;  // one line for a list

 private:
  struct Side {
    std::string strategy;
    std::int64_t start;
    RaceScore score;
    std::vector<RaceLane> lanes = {};
    std::optional<RaceResult> result = {};
  };
  enum class State { kRunning, kDone, kFailed };

  // Callers hold mutex_.
  void add(const char* event, const std::string& data);
  void flushLanes();

  const std::int64_t id_;
  const RaceWish wish_;
  const RacePlan plan_;
  const std::int64_t startedAt_;  // seconds since 1970
  mutable std::mutex mutex_;
  // guarded by mutex_
  State state_ = State::kRunning;
  std::string failure_;
  std::vector<Side> sides_;
  std::vector<std::pair<std::int64_t, std::int64_t>> newlySent_;  // person, at
  std::size_t told_ = 0;                                          // lanes of the last side
  Events events_;
};

}  // namespace festa
