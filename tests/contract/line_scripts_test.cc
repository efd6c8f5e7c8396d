// The scripts on a real server do what the model does on which the simulation runs.
#include "lock/redis/line/line_scripts.h"

#include "tests/support/lock/line_model.h"
#include "tests/support/lock/one_client.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"

#include <drogon/nosql/RedisSubscriber.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>

namespace festa::test {

namespace {

using lock::LineCommand;
using lock::LineReply;
using lock::LineVerdict;

// Long enough that nothing ends by itself; the test ends holds and lives.
constexpr lock::Millis kForEver{1'000'000};
// One that a process which is ready is granted by message. The test prolongs holds after each call.
constexpr lock::Millis kReadyLease = lock::kLongestReadyLease;

// What the server publishes to these processes, in order.
class Messages {
 public:
  Messages(const drogon::nosql::RedisClientPtr& client, const lock::RedisKeys& keys,
           const std::vector<std::string>& processes)
      : subscriber_(client->newSubscriber()) {
    for (const auto& process : processes)
      subscriber_->subscribe(keys.wake(process), [heard = heard_, process](
                                                     const std::string&, const std::string& text) {
        const std::lock_guard guard(heard->mutex);
        heard->messages.push_back({process, lock::messageOf(text)});
      });
  }
  std::vector<LineModel::Message> take(std::size_t count) {
    std::vector<LineModel::Message> taken;
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard guard(heard_->mutex);
      if (heard_->messages.size() < count) return false;
      taken = std::exchange(heard_->messages, {});
      return true;
    }));
    return taken;
  }

 private:
  struct Heard {
    std::mutex mutex;
    std::vector<LineModel::Message> messages;  // guarded by mutex
  };
  // Shared with callbacks, one of which may run while the subscriber ends.
  const std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  const std::shared_ptr<drogon::nosql::RedisSubscriber> subscriber_;
};

std::string describe(const LineModel::Message& message) {
  struct Text {
    std::string operator()(const lock::EchoMessage&) const { return "echo"; }
    std::string operator()(const lock::OfferMessage& m) const {
      return "offer " + m.ticket + " " + m.key;
    }
    std::string operator()(const lock::GrantMessage& m) const {
      return "grant " + std::to_string(m.beat) + " " + m.ticket + " " + m.key;
    }
  };
  return message.process + " " + std::visit(Text{}, message.text);
}

class LineScripts : public testing::Test {
 protected:
  void SetUp() override { startEpoch(1); }

  // On the server and in the model.
  void startEpoch(std::int64_t epoch) {
    redis_.command({"SET", keys_.fence(), std::to_string(epoch << 32)});
    model_.startEpoch(epoch);
  }
  void forgetAll() {
    redis_.command({"FLUSHALL"});
    model_.flush();
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

  static std::string ticket(const std::string& process, int number, lock::Millis lease = kForEver) {
    return lock::Ticket{process, static_cast<std::uint64_t>(number), lease}.text();
  }

  // Compares what was published since the last call. Returns how many keys were granted by it.
  int compareMessages(std::set<std::int64_t>& given, const std::string& story) {
    const auto expected = model_.takeMessages();
    const auto real = messages_.take(expected.size());
    EXPECT_EQ(real.size(), expected.size()) << story;
    int granted = 0;
    for (std::size_t i = 0; i < std::min(real.size(), expected.size()); ++i) {
      EXPECT_EQ(describe(real[i]), describe(expected[i])) << story;
      const auto* const message = std::get_if<lock::GrantMessage>(&real[i].text);
      if (!message) continue;
      ++granted;
      EXPECT_TRUE(given.insert(message->fence).second) << story;
    }
    return granted;
  }

  Loops loops_;
  RedisServer redis_;
  const lock::RedisKeys keys_{"test", "line"};
  const OneClient client_{RedisServer::connectTo(redis_.port(), 1, std::chrono::seconds(5))};
  lock::RedisCommands commands_{client_};
  Messages messages_{redis_.connect(), keys_, {"p0", "p1", "p2"}};
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
  const auto following = [&] { return lock::Following{roll(3), std::max(0, roll(6) - 3)}; };
  const auto command = [&](const std::string& process, const lock::LockKey& key) -> LineCommand {
    const auto one = [&](int number) {
      return ticket(process, number, number % 2 == 0 ? kForEver : kReadyLease);
    };
    const auto mine = one(roll(4));
    switch (roll(11)) {
      case 0:
      case 1:
      case 2:
      case 3: return lock::ArriveCommand{key, mine, roll(4) != 0, roll(2) == 0};
      case 4:
      case 5: return lock::LeaveCommand{.key = key, .ticket = mine, .following = following()};
      case 6:
        return lock::LeaveCommand{.key = key,
                                  .ticket = mine,
                                  .followers = {one(roll(4)), one(roll(4))},
                                  .following = following()};
      case 7:
        return lock::LeaveCommand{.key = key,
                                  .ticket = mine,
                                  .next = one(4 + roll(3)),
                                  .keep = roll(2) == 0,
                                  .following = following()};
      case 8: return lock::ConfirmCommand{key, mine, following()};
      case 9: {
        lock::AbandonCommand abandon{key, {mine}};
        for (int i = roll(3); i > 0; --i) abandon.tickets.push_back(one(roll(7)));
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
  int spare = 0;
  int grantedByMessage = 0;
  std::uint64_t beats = 0;
  std::int64_t epoch = 1;
  for (const auto* process : {"p0", "p1", "p2"})
    ASSERT_TRUE(eventually([&] {
      return redis_.command({"PUBSUB", "NUMSUB", keys_.wake(process)}).find("\n1") !=
             std::string::npos;
    }));
  for (int call = 0; call < 4000; ++call) {
    const std::string process = "p" + std::to_string(roll(3));
    const std::array<lock::LockKey, 3> keys{"k1", std::string("k 2\0:", 5), "k3"};
    const auto& key = keys[static_cast<std::size_t>(roll(3))];
    std::vector<LineCommand> steps;
    if (roll(6) == 0)
      steps.emplace_back(roll(4) == 0   ? LineCommand(lock::QuitCommand{})
                         : roll(4) == 0 ? lock::BeatCommand{}
                                        : lock::BeatCommand{++beats});
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
    const auto began = lock::SteadyClock::now();
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
        ASSERT_EQ(real.grant->spare, expected.grant->spare) << story;
        // Which of a call's tokens goes to which key is the server's business.
        auto& last = fences[*lock::keyOf(steps[i])];
        ASSERT_GT(real.grant->fence, last) << story;
        last = real.grant->fence + static_cast<std::int64_t>(real.grant->followers.size()) +
               real.grant->spare;
        for (auto fence = real.grant->fence; fence <= last; ++fence)
          ASSERT_TRUE(given.insert(fence).second) << story;
        followed += real.grant->followers.size();
        spare += real.grant->spare;
      }
      ASSERT_EQ(real.holder, expected.holder) << story;
      ASSERT_EQ(real.others, expected.others) << story;
      ASSERT_EQ(real.offered, expected.offered) << story;
      ASSERT_EQ(real.remaining.has_value(), expected.remaining.has_value()) << story;
    }
    grantedByMessage += compareMessages(given, story);
    ASSERT_FALSE(HasFailure());
    if (story.size() > 4000) story.erase(0, 2000);
    // The model's clock stands still, so offers and lives on the server must last.
    for (const auto& about : keys) redis_.command({"PEXPIRE", keys_.hold(about), "1000000", "GT"});
    redis_.command({"PERSIST", keys_.alive(process)});
    // On a machine this slow an offer may have ended on the server before it was prolonged.
    if (lock::SteadyClock::now() - began > lock::kOfferTime * 4 / 5) {
      forgetAll();
      startEpoch(++epoch);
      story += "\nall is forgotten";
    }
  }
  EXPECT_GT(followed, 0U);
  EXPECT_GT(spare, 0);
  EXPECT_GT(grantedByMessage, 0);
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

// A process of an earlier version says "1" when it is alive, and knows no grants by message.
TEST_F(LineScripts, AProcessThatHasNotSaidThatItIsReadyIsOfferedTheKey) {
  for (const auto* life : {"0", "1", "17"}) {
    const std::string key = std::string("k") + life;
    onServer(lock::ArriveCommand{key, ticket("p1", 1)}, "p1");
    onServer(lock::ArriveCommand{key, ticket("p0", 1, kReadyLease)}, "p0");
    redis_.command({"SET", keys_.alive("p0"), life});
    onServer(lock::LeaveCommand{key, ticket("p1", 1)}, "p1");
    EXPECT_EQ(redis_.command({"EXISTS", "test:line:offer:" + key}), "1");
  }
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
  const auto offered = lock::messageOf(written.text() + " key with spaces");
  const auto& offer = std::get<lock::OfferMessage>(offered);
  EXPECT_EQ(offer.key, "key with spaces");
  EXPECT_EQ(offer.ticket, written.text());
  const auto granted = lock::messageOf("! p:1:3000 9007199254740991 17 a key");
  const auto& grant = std::get<lock::GrantMessage>(granted);
  EXPECT_EQ(grant.key, "a key");
  EXPECT_EQ(grant.ticket, "p:1:3000");
  EXPECT_EQ(grant.fence, 9007199254740991);
  EXPECT_EQ(grant.beat, 17U);
  for (const auto* other : {"beat", "", "!", "! p:1:3000", "! p:1:3000 x 1 k", "! p:1:3000 1"})
    EXPECT_TRUE(std::holds_alternative<lock::EchoMessage>(lock::messageOf(other))) << other;
}

}  // namespace festa::test
