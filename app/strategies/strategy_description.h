// The strategies, in print.
#pragma once

#include <string>

namespace festa {

// A Markdown document with every strategy: what it is, what it needs, how far it reaches, whether
// it keeps an order, when to use it. It is docs/strategies.md.
std::string describeStrategies();

// The same for programs, an array of objects:
//   name, what, use   texts
//   kind              "none", "lock", "guard" (inside the transaction) or "queue"
//   needs             null, "redis", "redlock" or "rabbitmq"
//   scope             "process" or "processes"; of those for the lab only it has no meaning
//   order             "none", "process" (for the waiters of one process) or "overall"
//   lab_only          it is known not to protect
//   refuses_stale_updates   and yet it refuses to update a row that has changed since it was read
//   recommended       the lock to begin with, among those of the same scope
std::string strategiesAsJson();

}  // namespace festa
