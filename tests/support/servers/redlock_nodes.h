// Five real Redis servers that know nothing of each other.
#pragma once

#include "tests/support/servers/redis_server.h"

#include <array>
#include <string>

namespace festa::test {

class RedlockNodes {
 public:
  static constexpr std::size_t kCount = 5;

  RedisServer& at(std::size_t i) { return servers_[i]; }
  // As `redlock.nodes` takes them from the environment.
  std::string addresses() const;
  // Empties the nodes and lets them vote at once: no key can be held in them. `root` is that of the
  // storage's keys.
  void reset(const std::string& root);
  // The same command on all of them.
  void command(const std::vector<std::string>& arguments) const;

 private:
  std::array<RedisServer, kCount> servers_;
};

// The nodes shared by the tests of this program that do not break them.
RedlockNodes& sharedRedlockNodes();

}  // namespace festa::test
