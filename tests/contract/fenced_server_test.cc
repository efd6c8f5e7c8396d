#include "lock/redis/fenced_server.h"

#include "tests/support/lock/one_client.h"
#include "tests/support/lock/storages.h"
#include "tests/support/servers/redis_server.h"

#include <gtest/gtest.h>

#include <atomic>

namespace festa::test {

namespace {

using lock::FencedServer;
using lock::RedisScript;

// KEYS fence · ARGV a name for the count of its runs.
const RedisScript kDraw(R"(
redis.call('INCR', ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then return {-1} end
return {1, redis.call('INCR', KEYS[1])}
)");
const RedisScript kNeverContent(R"(
redis.call('INCR', ARGV[1])
return {-1}
)");
// One step of a line: the first number is a level deeper.
const RedisScript kDrawInAList(R"(
if redis.call('EXISTS', KEYS[1]) == 0 then return {{-1}} end
return {{1, redis.call('INCR', KEYS[1])}}
)");

class CountingEpochs : public lock::EpochSource {
 public:
  drogon::Task<std::int64_t> draw() override { co_return ++draws; }
  std::atomic<int> draws{0};
};

class FencedServerTest : public testing::Test {
 protected:
  std::future<FencedServer::Answer> start(const RedisScript& script, std::int64_t floor = 0) {
    return startOn(loops_.at(), [this, &script, floor] {
      return server_.ask(script, {keys_.fence()}, {"runs"}, floor);
    });
  }
  std::string runs() const { return redis_.command({"GET", "runs"}); }

  RedisServer redis_;
  CountingEpochs epochs_;
  const lock::RedisKeys keys_{"test", "fenced"};
  FencedServer server_{keptCommands(redis_.connect()), keys_, epochs_,
                       FencedServer::Home::kNotChecked};
  Loops loops_;
};

}  // namespace

TEST_F(FencedServerTest, AServerWithoutACounterGetsAnEpochAndIsAskedAgain) {
  const auto answer = finish(start(kDraw));
  EXPECT_EQ(answer.reply.items.at(1).integer >> 32, 1);
  EXPECT_EQ(runs(), "2");
  finish(start(kDraw));
  EXPECT_EQ(epochs_.draws, 1);
}

TEST_F(FencedServerTest, TheFirstNumberMayBeInAList) {
  EXPECT_EQ(finish(start(kDrawInAList)).reply.items.at(0).items.at(0).integer, 1);
}

TEST_F(FencedServerTest, SeveralThatFindTheCounterMissingDrawOneEpoch) {
  std::vector<std::future<FencedServer::Answer>> all;
  all.reserve(20);
  for (int i = 0; i < 20; ++i) all.push_back(start(kDraw));
  for (auto& one : all) EXPECT_EQ(finish(std::move(one)).reply.items.at(0).integer, 1);
  EXPECT_EQ(epochs_.draws, 1);
}

TEST_F(FencedServerTest, AScriptThatNeverFindsItsCounterRunsThreeTimes) {
  EXPECT_THROW(finish(start(kNeverContent)), lock::LockStorageUnavailable);
  EXPECT_EQ(runs(), "3");
}

TEST_F(FencedServerTest, TheTimeIsThatOfTheCommandThatWasAnswered) {
  const auto before = lock::SteadyClock::now();
  const auto first = finish(start(kDraw));
  const auto second = finish(start(kDraw));
  EXPECT_GT(first.sent, before);
  EXPECT_GT(second.sent, first.sent);
  EXPECT_LT(second.sent, lock::SteadyClock::now());
}

TEST_F(FencedServerTest, AServerThatDoesNotAnswerIsUnavailable) {
  redis_.kill();
  EXPECT_THROW(finish(start(kDraw)), lock::LockStorageUnavailable);
  EXPECT_EQ(epochs_.draws, 0);
}

TEST(ExtensionArguments, WhatIsNotAskedForIsEmpty) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(lock::argumentsOf("o", {}), (Texts{"o", "", ""}));
  EXPECT_EQ(lock::argumentsOf("o", {lock::Millis{5}, 7}), (Texts{"o", "5", "7"}));
}

}  // namespace festa::test
