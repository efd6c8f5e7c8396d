// What follows from a decision of a LineClient.
#pragma once

#include "lock/memory/waiting_line.h"
#include "lock/redis/line/line_protocol.h"

#include <variant>
#include <vector>

namespace festa::lock {

// The names of the actions, for LineClient and those who carry them out.
struct LineActions {
  struct Send {
    LineCommand command;
  };
  struct Granted {
    WaiterId waiter;
    Lease lease;
  };
  struct Busy {
    WaiterId waiter;
  };
  struct Broken {  // no reply: it may hold the key
    WaiterId waiter;
  };
  using Action = std::variant<Send, Granted, Busy, Broken>;
  using Actions = std::vector<Action>;
};

}  // namespace festa::lock
