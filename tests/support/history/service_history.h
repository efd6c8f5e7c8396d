// The history of a run of the real binary: holds from its log, answers from its clients, rows from
// its database.
#pragma once

#include "tests/support/history/history.h"

#include <string>

namespace festa::test {

// Adds the grants and ends that a service has logged. A request is named by its X-Request-Id.
void addHolds(History& history, const std::string& log);

}  // namespace festa::test
