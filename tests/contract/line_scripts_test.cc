// The scripts on a real server do what the model does on which the simulation runs.
#include "lock/redis/line_scripts.h"

#include "tests/support/line_model.h"
#include "tests/support/loops.h"
#include "tests/support/one_client.h"
#include "tests/support/redis_server.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

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
    return onServer(std::vector{command}, process).at(0);
  }

  // All in one call.
  std::vector<LineReply> onServer(const std::vector<LineCommand>& steps,
                                  const std::string& process) {
    const auto call = lock::callOf(steps, keys_, process);
    const auto reply =
        runOn(loops_.at(), [&] { return commands_.run(call.script, call.keys, call.arguments); });
    return lock::repliesOf(reply, steps);
  }

  static std::string ticket(const std::string& process, int number) {
    return lock::Ticket{process, static_cast<std::uint64_t>(number), kForEver}.text();
  }

  Loops loops_;
  RedisServer redis_;
  const lock::RedisKeys keys_{"test", "line"};
  const OneClient client_{redis_.connect()};
  lock::RedisCommands commands_{client_};
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
    std::string operator()(const lock::AbandonCommand& c) const {
      std::string text = "abandon";
      for (const auto& one : c.tickets) text += " " + one;
      return text;
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
  const auto command = [&](const std::string& process, const lock::LockKey& key) -> LineCommand {
    const auto mine = ticket(process, roll(4));
    switch (roll(11)) {
      case 0:
      case 1:
      case 2:
      case 3: return lock::ArriveCommand{key, mine, roll(4) != 0, roll(2) == 0};
      case 4:
      case 5: return lock::LeaveCommand{key, mine};
      case 6:
        return lock::LeaveCommand{
            .key = key,
            .ticket = mine,
            .followers = {ticket(process, roll(4)), ticket(process, roll(4))}};
      case 7: return lock::LeaveCommand{key, mine, ticket(process, 4 + roll(3)), roll(2) == 0};
      case 8: return lock::ConfirmCommand{key, mine};
      case 9: {
        lock::AbandonCommand abandon{key, {mine}};
        for (int i = roll(3); i > 0; --i) abandon.tickets.push_back(ticket(process, roll(7)));
        return abandon;
      }
      default: return lock::LookCommand{key, mine};
    }
  };
  const lock::SteadyTime now{std::chrono::hours(1)};
  std::string story;
  std::map<lock::LockKey, std::int64_t> fences;
  std::set<std::int64_t> given;
  std::size_t followed = 0;
  for (int call = 0; call < 4000; ++call) {
    const std::string process = "p" + std::to_string(roll(3));
    const std::array<lock::LockKey, 3> keys{"k1", std::string("k 2\0:", 5), "k3"};
    const auto& key = keys[static_cast<std::size_t>(roll(3))];
    std::vector<LineCommand> steps;
    if (roll(6) == 0)
      steps.emplace_back(roll(2) == 0 ? LineCommand(lock::BeatCommand{}) : lock::QuitCommand{});
    else
      // About one key, or about all of them.
      for (const auto& about : keys)
        if (roll(2) == 0 || about == key)
          for (int i = 1 + roll(4); i > 0; --i) steps.push_back(command(process, about));
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
    const auto answers = onServer(steps, process);
    ASSERT_EQ(answers.size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      story += (i == 0 ? "\n" : " and\n") + process + " " + describe(steps[i]);
      const auto& real = answers[i];
      const auto expected = model_.execute(steps[i], process, now);
      ASSERT_EQ(real.verdict, expected.verdict) << story;
      ASSERT_EQ(real.grant.has_value(), expected.grant.has_value()) << story;
      if (real.grant) {
        ASSERT_EQ(real.grant->ticket, expected.grant->ticket) << story;
        ASSERT_EQ(real.grant->followers, expected.grant->followers) << story;
        // Which of a call's tokens goes to which key is the server's business.
        auto& last = fences[*lock::keyOf(steps[i])];
        ASSERT_GT(real.grant->fence, last) << story;
        last = real.grant->fence + static_cast<std::int64_t>(real.grant->followers.size());
        for (auto fence = real.grant->fence; fence <= last; ++fence)
          ASSERT_TRUE(given.insert(fence).second) << story;
        followed += real.grant->followers.size();
      }
      ASSERT_EQ(real.holder, expected.holder) << story;
      ASSERT_EQ(real.others, expected.others) << story;
      ASSERT_EQ(real.offered, expected.offered) << story;
      ASSERT_EQ(real.remaining.has_value(), expected.remaining.has_value()) << story;
    }
    if (story.size() > 4000) story.erase(0, 2000);
    // The model's clock stands still, so offers and lives on the server must last.
    for (const auto& about : keys) redis_.command({"PEXPIRE", keys_.hold(about), "1000000", "GT"});
    redis_.command({"PERSIST", keys_.alive(process)});
  }
  EXPECT_GT(followed, 0U);
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
