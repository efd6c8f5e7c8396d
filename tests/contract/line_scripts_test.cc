// The scripts on a real server do what the model does on which the simulation runs.
#include "lock/redis/line_scripts.h"

#include "tests/support/line_model.h"
#include "tests/support/loops.h"
#include "tests/support/redis_server.h"

#include <gtest/gtest.h>

#include <random>

namespace festa::test {

namespace {

using lock::LineCommand;
using lock::LineReply;
using lock::LineVerdict;

// Long enough that nothing ends by itself; the test ends holds and lives.
constexpr lock::Millis kForEver{1'000'000};

class LineScripts : public testing::Test {
 protected:
  void SetUp() override {
    redis_.command({"SET", keys_.fence(), std::to_string(std::int64_t{1} << 32)});
    model_.startEpoch(1);
  }

  LineReply onServer(const LineCommand& command, const std::string& process) {
    const auto call = lock::callOf(command, keys_, process);
    const auto reply =
        runOn(loops_.at(), [&] { return commands_.run(call.script, call.keys, call.arguments); });
    return lock::replyOf(reply);
  }

  static std::string ticket(const std::string& process, int number) {
    return lock::Ticket{process, static_cast<std::uint64_t>(number), kForEver}.text();
  }

  Loops loops_;
  RedisServer redis_;
  const lock::RedisKeys keys_{"test", "line"};
  const drogon::nosql::RedisClientPtr client_ = redis_.connect();
  lock::RedisCommands commands_{[this] { return client_; }};
  LineModel model_;
};

std::string describe(const LineCommand& command) {
  struct Name {
    std::string operator()(const lock::ArriveCommand& c) const {
      return "arrive " + c.ticket + (c.queue ? " queue" : "") + (c.brief ? " brief" : "");
    }
    std::string operator()(const lock::LeaveCommand& c) const {
      return "leave " + c.ticket + " next " + c.next + (c.keep ? " keep" : "");
    }
    std::string operator()(const lock::ConfirmCommand& c) const { return "confirm " + c.ticket; }
    std::string operator()(const lock::LookCommand& c) const { return "look " + c.ticket; }
    std::string operator()(const lock::BeatCommand&) const { return "beat"; }
    std::string operator()(const lock::QuitCommand&) const { return "quit"; }
  };
  return std::visit(Name{}, command);
}

}  // namespace

TEST_F(LineScripts, AnswerAsTheModelDoes) {
  std::mt19937 random(20261116);
  const auto roll = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  const lock::SteadyTime now{std::chrono::hours(1)};
  std::string story;
  for (int step = 0; step < 4000; ++step) {
    const std::string process = "p" + std::to_string(roll(3));
    const lock::LockKey key = roll(2) == 0 ? "k1" : std::string("k 2\0:", 5);
    const auto mine = ticket(process, roll(4));
    LineCommand command;
    switch (roll(12)) {
      case 0:
      case 1:
      case 2:
      case 3: command = lock::ArriveCommand{key, mine, roll(4) != 0, roll(2) == 0}; break;
      case 4:
      case 5:
      case 6: command = lock::LeaveCommand{key, mine}; break;
      case 7:
        command = lock::LeaveCommand{key, mine, ticket(process, 4 + roll(3)), roll(2) == 0};
        break;
      case 8: command = lock::ConfirmCommand{key, mine}; break;
      case 9: command = lock::LookCommand{key, mine}; break;
      case 10: command = lock::BeatCommand{}; break;
      case 11: command = lock::QuitCommand{}; break;
    }
    if (roll(10) == 0) {
      model_.expireHold(key);
      redis_.command({"DEL", keys_.hold(key)});
      story += "\nhold ends";
    }
    if (roll(20) == 0) {
      model_.expireAlive(process);
      redis_.command({"DEL", keys_.alive(process)});
      story += "\n" + process + " is silent";
    }
    story += "\n" + process + " " + describe(command);
    const auto real = onServer(command, process);
    const auto expected = model_.execute(command, process, now);
    ASSERT_EQ(real.verdict, expected.verdict) << story;
    ASSERT_EQ(real.grant.has_value(), expected.grant.has_value()) << story;
    if (real.grant) {
      ASSERT_EQ(real.grant->ticket, expected.grant->ticket) << story;
      ASSERT_EQ(real.grant->fence, expected.grant->fence) << story;
    }
    ASSERT_EQ(real.holder, expected.holder) << story;
    ASSERT_EQ(real.others, expected.others) << story;
    ASSERT_EQ(real.offered, expected.offered) << story;
    ASSERT_EQ(real.remaining.has_value(), expected.remaining.has_value()) << story;
    if (story.size() > 4000) story.erase(0, 2000);
    // The model's clock stands still, so offers and lives on the server must last.
    redis_.command({"PEXPIRE", keys_.hold(key), "1000000", "GT"});
    redis_.command({"PERSIST", keys_.alive(process)});
  }
}

TEST_F(LineScripts, PlacesOfADeadProcessGoInBoundedSteps) {
  onServer(lock::ArriveCommand{"k", ticket("holder", 1)}, "holder");
  std::vector<std::string> many{"ZADD", "test:line:line:k"};
  for (int i = 1; i <= lock::kDeadPerStep + 10; ++i) {
    many.push_back(std::to_string(i));
    many.push_back(ticket("dead", i));
  }
  redis_.command(many);
  redis_.command({"SET", "test:line:arrivals", "100000"});
  onServer(lock::ArriveCommand{"k", ticket("living", 1)}, "living");
  const auto left = onServer(lock::LeaveCommand{"k", ticket("holder", 1)}, "holder");
  EXPECT_TRUE(left.unfinished);
  EXPECT_TRUE(left.holder.empty());
  const auto looked = onServer(lock::LookCommand{"k", ticket("living", 1)}, "living");
  EXPECT_FALSE(looked.unfinished);
  ASSERT_TRUE(looked.grant);
  EXPECT_EQ(looked.grant->ticket, ticket("living", 1));
}

TEST_F(LineScripts, TicketsAndMessagesAreReadBack) {
  const lock::Ticket written{"abc", 17, lock::Millis{3000}};
  const auto read = lock::Ticket::parse(written.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->process, "abc");
  EXPECT_EQ(read->number, 17U);
  EXPECT_EQ(read->lease, lock::Millis{3000});
  for (const auto* junk : {"", "a", "a:1", "a:b:c", "a:1:", "a::1", "a:1:2x"})
    EXPECT_FALSE(lock::Ticket::parse(junk)) << junk;
  const auto offer = lock::offerOf(written.text() + " key with spaces");
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->key, "key with spaces");
  EXPECT_EQ(offer->ticket, written.text());
  EXPECT_FALSE(lock::offerOf("beat"));
}

}  // namespace festa::test
