#include "controllers/http/drain.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace festa {

namespace {

using namespace std::chrono_literals;

// To the end of a stop that takes so long at most.
std::int64_t stop(Drain& drain, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  drain.awaitServed(deadline);
  return drain.awaitQuiet(deadline);
}

// What a crowd does that comes back with every refusal: a new one begins before the last one ends.
// Like the server, it lets no new request in at kClosing.
void refuseWithoutPause(const std::shared_ptr<Drain>& drain) {
  std::optional<Drain::InFlight> requests[2];
  for (int i = 0; drain->stage() != Drain::Stage::kClosing; i = 1 - i) {
    requests[i].emplace(drain);
    requests[i]->refuse();
    requests[i]->answer();
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
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(stop(*drain, 20s), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s) << "it waited for them to its limit";
  EXPECT_EQ(drain->inFlight(), 0);
  drain->enter(Drain::Stage::kClosing);  // ends the crowd where it did not
  crowd.join();
}

TEST(DrainTest, ConnectionsAreLetInUntilTheLastServedRequestHasEnded) {
  const auto drain = std::make_shared<Drain>();
  std::optional<Drain::InFlight> served(std::in_place, drain);
  drain->enter(Drain::Stage::kRefusing);
  EXPECT_EQ(stop(*drain, 20ms), 1) << "it is served longer than the limit";
  drain->enter(Drain::Stage::kRefusing);
  std::atomic<std::int64_t> unanswered{-1};
  std::thread stopping([&] { unanswered = stop(*drain, 20s); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(drain->stage(), Drain::Stage::kRefusing);
    std::this_thread::sleep_for(2ms);
  }
  served->answer();
  served.reset();
  stopping.join();
  EXPECT_EQ(unanswered, 0);
  EXPECT_EQ(drain->stage(), Drain::Stage::kClosing);
}

TEST(DrainTest, ARefusedRequestIsWaitedForAtTheEnd) {
  const auto drain = std::make_shared<Drain>();
  drain->enter(Drain::Stage::kRefusing);
  std::optional<Drain::InFlight> refused(std::in_place, drain);
  refused->refuse();
  EXPECT_EQ(stop(*drain, 20ms), 1);
  EXPECT_EQ(drain->inFlight(), 1);
  refused->answer();
  refused.reset();
  EXPECT_EQ(stop(*drain, 20ms), 0);
}

// Its connection had ended before it could be answered.
TEST(DrainTest, WhatWasReadAndNotAnsweredDuringTheStopIsCounted) {
  const auto drain = std::make_shared<Drain>();
  { const Drain::InFlight beforeTheStop(drain); }
  std::optional<Drain::InFlight> acrossTheStop(std::in_place, drain);
  drain->enter(Drain::Stage::kUnready);
  acrossTheStop.reset();
  drain->enter(Drain::Stage::kRefusing);
  Drain::InFlight(drain).answer();
  { const Drain::InFlight duringTheStop(drain); }
  EXPECT_EQ(stop(*drain, 20s), 2);
}

}  // namespace festa
