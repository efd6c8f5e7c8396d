#include "app/lab/race/race_verdict.h"

namespace festa {

const char* nameOf(RaceVerdict verdict) {
  switch (verdict) {
    case RaceVerdict::kHeld: return "held";
    case RaceVerdict::kLucky: return "lucky";
    case RaceVerdict::kBroken: return "broken";
  }
  return "?";
}

bool protects(const StrategyRow& row, const RaceWish& wish, std::size_t instances) {
  // Fences and constraints keep every rule without a lock, and behind one that fails.
  if (wish.backstop) return true;
  // Sales of seats and coupons update the row that they have read; a pin adds another row.
  if (row.refusesStaleUpdates) return wish.subject != RaceSubject::kPins;
  if (row.labOnly) return false;
  if (row.takesLock() && wish.releasesBeforeCommit) return false;
  return row.acrossProcesses || instances <= 1;
}

RaceVerdict verdictOf(bool holds, bool isProtected) {
  if (!holds) return RaceVerdict::kBroken;
  return isProtected ? RaceVerdict::kHeld : RaceVerdict::kLucky;
}

}  // namespace festa
