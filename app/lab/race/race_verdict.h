// What is said about a strategy when its run is over.
#pragma once

#include "app/lab/race/race_plan.h"
#include "app/strategies/strategies.h"

#include <cstddef>

namespace festa {

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
