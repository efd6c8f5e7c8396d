// What happened to one request of a race.
#pragma once

#include "app/lab/lab_times.h"

#include <cstdint>
#include <string>

namespace festa {

// Moments as in LabTimes.
struct RaceLane {
  std::int64_t person = 0;  // its index in the plan
  std::int64_t sent = 0;
  std::int64_t answered = 0;
  int status = 0;          // 0: no answer came
  std::string code = {};   // of a problem
  std::string place = {};  // what it wanted, e.g. a seat; "": all want the same
  std::string won = {};    // what it got: a seat, a coupon's number; "": a pin, or nothing
  LabTimes server = {};    // as the instance told it; empty when it told nothing

  bool isAccepted() const { return status / 100 == 2; }
};

}  // namespace festa
