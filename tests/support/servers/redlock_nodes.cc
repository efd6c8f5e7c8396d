#include "tests/support/servers/redlock_nodes.h"

#include "lock/redis/redis_keys.h"

namespace festa::test {

std::string RedlockNodes::addresses() const {
  std::string all;
  for (const auto& server : servers_)
    all += (all.empty() ? "" : ",") + std::string("127.0.0.1:") + std::to_string(server.port());
  return all;
}

void RedlockNodes::command(const std::vector<std::string>& arguments) const {
  for (const auto& server : servers_) server.command(arguments);
}

void RedlockNodes::reset(const std::string& root) {
  command({"FLUSHALL"});
  command({"SET", lock::RedlockKeys(root, "redlock").ready(), "1"});
}

RedlockNodes& sharedRedlockNodes() {
  static RedlockNodes nodes;
  return nodes;
}

}  // namespace festa::test
