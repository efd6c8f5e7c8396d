// When things happened to a request of the lab, told in a header of its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace festa {

// Moments are nanoseconds of the machine's steady clock, so that those of several processes on one
// machine can be compared; 0: it did not happen.
struct LabTimes {
  std::string instance;         // that served it
  std::string outcome;          // of its lock, as lock::nameOf() has it; "": it did not reach one
  std::int64_t asked = 0;       // for the lock
  std::int64_t received = 0;    // its storage had the request, see lock::Lease
  std::int64_t granted = 0;     // or allowed to go on without one, by strategy
  std::int64_t begun = 0;       // it got its database connection
  std::int64_t committing = 0;  // its effects are complete, COMMIT is next
  // The handler returned: COMMIT had been acknowledged, or the transaction was rolled back.
  std::int64_t ended = 0;
  std::int64_t released = 0;  // the lock; before `ended` by X-Lab-Fault: release-before-commit
  std::int64_t fence = 0;     // 0: none

  bool operator==(const LabTimes&) const = default;
};

// The text of the header X-Lab-Times, and back. Nullopt: it is no such text.
std::string textOf(const LabTimes& times);
std::optional<LabTimes> labTimesIn(std::string_view text);

}  // namespace festa
