#include "lock/drogon/loop_clients.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

// True: it throws NoClientHere on the calling thread.
template <class Clients>
bool refuses(const Clients& clients) {
  try {
    clients.here();
  } catch (const lock::NoClientHere&) {
    return true;
  }
  return false;
}

drogon::Task<bool> refuseOnThisLoop(std::shared_ptr<const lock::LoopDbClients> databases,
                                    std::shared_ptr<const lock::LoopRedisClients> servers) {
  co_return refuses(*databases) && refuses(*servers);
}

}  // namespace

TEST(LoopClients, OffTheApplicationsLoopsAskingForAClientThrows) {
  const auto databases = lock::fastDbClients();
  const auto servers = lock::fastRedisClients();
  EXPECT_TRUE(refuses(*databases) && refuses(*servers)) << "a thread without a loop";
  const Loops loops;
  EXPECT_TRUE(runOn(loops.at(), [=] { return refuseOnThisLoop(databases, servers); }))
      << "another loop, such as that of a Redis client";
}

}  // namespace festa::test
