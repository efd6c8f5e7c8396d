// Says what the lanes of a race show, and the verdict.
#pragma once

#include "app/lab/lab_times.h"
#include "app/lab/race/race_plan.h"
#include "app/strategies/strategies.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace festa {

// Tells what happened to one request of a race; its moments are as in LabTimes.
struct RaceLane {
  std::int64_t person = 0;  // its index in the plan
  std::int64_t sent = 0;
  std::int64_t answered = 0;
  int status = 0;          // 0: no answer came
  std::string code = {};   // a problem's
  std::string place = {};  // what it wanted, e.g. a seat; "": all want the same
  std::string won = {};    // what it got: a seat, a coupon's number; "": a pin, or nothing
  LabTimes server = {};    // as the instance told it; empty when it told nothing

  bool isAccepted() const { return status / 100 == 2; }
};

// The counter that matters, kept while answers come in.
class RaceScore {
 public:
  // `mostPerPrize`: winners that one prize (RaceLane::won) may have; `mostInAll`: that there may
  // be.
  RaceScore(std::int64_t mostPerPrize, std::int64_t mostInAll)
      : mostPerPrize_(mostPerPrize), mostInAll_(mostInAll) {}

  void add(const RaceLane& lane);

  std::int64_t accepted() const { return accepted_; }
  // Winners too many: beyond what their prize may have, or beyond all prizes.
  std::int64_t tooMany() const;

 private:
  const std::int64_t mostPerPrize_;
  const std::int64_t mostInAll_;
  std::int64_t accepted_ = 0;
  std::int64_t crowded_ = 0;                     // winners beyond what their prize may have
  std::map<std::string, std::int64_t> winners_;  // by prize
};

// In nanoseconds; all 0 when there are no values.
struct Percentiles {
  std::int64_t count = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t most = 0;
};
Percentiles percentilesOf(std::vector<std::int64_t> values);

// Two winners of one prize, of whom one was too many: their transactions ran at the same time, from
// `from` to `to`. The numbers are indices into the lanes.
struct RaceOverlap {
  std::size_t first;
  std::size_t second;
  std::int64_t from;
  std::int64_t to;
};

struct RaceOrder {
  std::int64_t granted = 0;    // locks that were granted
  std::int64_t overtaken = 0;  // those that were overtaken, see lock::overtakingsIn()
};

struct RaceFindings {
  Percentiles accepted;  // from sent to answered
  Percentiles refused;   // the same, of answers that were no success
  Percentiles wait;      // for the lock
  Percentiles hold;      // time that the lock was held
  RaceOrder order;
  std::vector<RaceOverlap> overlaps;                            // at most kMostOverlaps
  std::map<std::pair<int, std::string>, std::int64_t> answers;  // by status and code
  std::map<std::string, std::int64_t> instances;  // lanes by the instance that served them
};

inline constexpr std::size_t kMostOverlaps = 5;

// Where all instances ask one storage for a lock, or each has one of its own.
enum class RaceStorage { kShared, kPerInstance };

RaceFindings findingsOf(const std::vector<RaceLane>& lanes, std::int64_t mostPerPrize,
                        RaceStorage storage = RaceStorage::kShared);

// What is said about a strategy when its run is over.
enum class RaceVerdict {
  kHeld,    // the rules were kept, and nothing but the strategy and its backstop kept them
  kLucky,   // the rules were kept by chance: the next run may break them
  kBroken,  // the database says so
};

// The names are those of the API.
const char* nameOf(RaceVerdict verdict);

// Whether the strategy keeps the rules of such a race whatever happens. `instances`: how many
// processes served the crowd.
bool protects(const StrategyRow& row, const RaceWish& wish, std::size_t instances);

// `holds`: the database shows that the rules were kept.
RaceVerdict verdictOf(bool holds, bool isProtected);

}  // namespace festa
