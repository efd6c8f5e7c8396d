#include "controllers/drain.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace festa {

namespace {

using namespace std::chrono_literals;

// What a crowd does that comes back with every refusal: a new one begins before the last one ends.
// Like the server, it lets no new request in at kClosing.
void refuseWithoutPause(const std::shared_ptr<Drain>& drain) {
  std::optional<Drain::InFlight> requests[2];
  for (int i = 0; drain->stage() != Drain::Stage::kClosing; i = 1 - i) {
    requests[i].emplace(drain);
    requests[i]->refuse();
    requests[1 - i].reset();
    std::this_thread::yield();
  }
}

}  // namespace

TEST(DrainTest, RefusedRequestsThatKeepComingDoNotProlongIt) {
  const auto drain = std::make_shared<Drain>();
  drain->enter(Drain::Stage::kRefusing);
  std::thread crowd([&] { refuseWithoutPause(drain); });
  while (drain->inFlight() == 0) std::this_thread::yield();
  EXPECT_TRUE(drain->awaitQuiet(20s));
  EXPECT_EQ(drain->inFlight(), 0);
  drain->enter(Drain::Stage::kClosing);  // ends the crowd where it did not
  crowd.join();
}

TEST(DrainTest, ConnectionsAreLetInUntilTheLastServedRequestHasEnded) {
  const auto drain = std::make_shared<Drain>();
  std::optional<Drain::InFlight> served(std::in_place, drain);
  drain->enter(Drain::Stage::kRefusing);
  EXPECT_FALSE(drain->awaitQuiet(20ms)) << "it is served longer than the limit";
  drain->enter(Drain::Stage::kRefusing);
  std::atomic<bool> isQuiet{false};
  std::thread stopping([&] { isQuiet = drain->awaitQuiet(20s); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(drain->stage(), Drain::Stage::kRefusing);
    std::this_thread::sleep_for(2ms);
  }
  served.reset();
  stopping.join();
  EXPECT_TRUE(isQuiet);
  EXPECT_EQ(drain->stage(), Drain::Stage::kClosing);
}

TEST(DrainTest, ARefusedRequestIsWaitedForAtTheEnd) {
  const auto drain = std::make_shared<Drain>();
  drain->enter(Drain::Stage::kRefusing);
  std::optional<Drain::InFlight> refused(std::in_place, drain);
  refused->refuse();
  EXPECT_FALSE(drain->awaitQuiet(20ms));
  EXPECT_EQ(drain->inFlight(), 1);
  refused.reset();
  EXPECT_TRUE(drain->awaitQuiet(20ms));
}

}  // namespace festa
