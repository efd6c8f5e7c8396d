// What the simulation meets too rarely: replies in an order that one loop alone does not make.
#include "lock/redis/line_client.h"

#include "tests/support/line_model.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::Lease;
using lock::LineClient;
using lock::LineCommand;
using lock::Millis;
using lock::SteadyTime;
using lock::WaiterId;

constexpr Millis kLease{8000};

class LineClientTest : public testing::Test {
 protected:
  void SetUp() override { server_.startEpoch(1); }

  // Executed by the server; the reply is not read yet.
  struct Said {
    LineCommand command;
    lock::LineReply reply;
    SteadyTime sent;
  };
  Said execute(const LineCommand& command) {
    return {command, server_.execute(command, "p", now_), now_};
  }
  std::pair<WaiterId, Said> arrive() {
    LineClient::Actions actions;
    const auto waiter = client_.arrive("k", kLease, true, actions);
    return {waiter, execute(std::get<LineClient::Send>(actions.at(0)).command)};
  }
  // Who got the key by this reply.
  std::optional<LineClient::Granted> read(const Said& said) {
    LineClient::Actions actions;
    client_.replied(said.command, said.reply, said.sent, now_, actions);
    for (auto& action : actions)
      if (auto* granted = std::get_if<LineClient::Granted>(&action)) return *granted;
    return std::nullopt;
  }
  // Does what is due; how many commands took tickets off the server.
  std::size_t tick() {
    LineClient::Actions actions;
    client_.tick(now_, actions);
    std::size_t abandons = 0;
    for (auto& action : actions) {
      const auto* send = std::get_if<LineClient::Send>(&action);
      if (!send || !std::holds_alternative<lock::AbandonCommand>(send->command)) continue;
      ++abandons;
      read(execute(send->command));
    }
    return abandons;
  }
  WaiterId stand() {
    const auto [waiter, said] = arrive();
    read(said);
    return waiter;
  }

  SteadyTime now_{std::chrono::hours(1)};
  LineModel server_;
  LineClient client_{"p"};
};

}  // namespace

TEST_F(LineClientTest, NobodyPassesAFollowerWhoseReplyIsOnItsWay) {
  const auto first = read(arrive().second);
  const auto second = stand();
  const auto [third, unread] = arrive();
  stand();
  const auto granted = read(execute(*client_.giveBack(first->lease, now_).leave));
  ASSERT_EQ(granted->waiter, second);
  const auto given = client_.giveBack(granted->lease, now_);
  EXPECT_FALSE(given.next);
  const auto next = read(execute(given.leave.value()));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->waiter, third);
  EXPECT_FALSE(read(unread));
}

TEST_F(LineClientTest, ACancelledFollowerIsPassed) {
  const auto first = read(arrive().second);
  stand();
  const auto cancelled = stand();
  const auto fourth = stand();
  const auto granted = read(execute(*client_.giveBack(first->lease, now_).leave));
  LineClient::Actions actions;
  EXPECT_TRUE(client_.cancel(cancelled, actions));
  const auto given = client_.giveBack(granted->lease, now_);
  ASSERT_TRUE(given.next);
  EXPECT_EQ(given.next->waiter, fourth);
  EXPECT_GT(given.next->lease.fence, granted->lease.fence + 1);
}

TEST_F(LineClientTest, ALateReplyAboutAnEarlierHoldLeavesTheRunAlone) {
  const auto first = read(arrive().second);
  stand();  // gets the key by a reply that is read too late
  const auto third = stand();
  const auto fourth = stand();
  const auto unread = execute(*client_.giveBack(first->lease, now_).leave);
  server_.expireHold("k");
  // Served by a look; its leave begins a run.
  const auto looked = read(execute(lock::LookCommand{"k", ""}));
  ASSERT_TRUE(looked);
  ASSERT_EQ(looked->waiter, third);
  const auto fifth = stand();
  const auto leader = read(execute(*client_.giveBack(looked->lease, now_).leave));
  ASSERT_EQ(leader->waiter, fourth);
  read(unread);
  const auto given = client_.giveBack(leader->lease, now_);
  ASSERT_TRUE(given.next);
  EXPECT_EQ(given.next->waiter, fifth);
}

TEST_F(LineClientTest, WhoHasGivenItsTurnToAnotherCanNeitherProlongNorGiveItBack) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  const auto follower = client_.giveBack(leader->lease, now_).next;
  ASSERT_TRUE(follower);
  EXPECT_FALSE(client_.prolonging(leader->lease));
  const auto again = client_.giveBack(leader->lease, now_);
  EXPECT_FALSE(again.leave || again.next);
  EXPECT_EQ(client_.prolonging(follower->lease), leader->lease.owner);
}

TEST_F(LineClientTest, TheLastFollowerHasAtLeastItsShareOfTheLease) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  now_ += lock::youngTime(kLease) - Millis{1};
  const auto follower = client_.giveBack(leader->lease, now_).next;
  ASSERT_TRUE(follower);
  EXPECT_EQ(follower->lease.validUntil - now_, lock::leastFollowerTime(kLease) + Millis{1});
}

TEST_F(LineClientTest, AnOldHoldIsGivenBackToTheServerWithAllWhoHadIt) {
  const auto first = read(arrive().second);
  for (int i = 0; i < 3; ++i) stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  const auto follower = client_.giveBack(leader->lease, now_).next;
  now_ += kLease / 8;
  const auto given = client_.giveBack(follower->lease, now_);
  ASSERT_TRUE(given.leave);
  EXPECT_EQ(given.leave->ticket, leader->lease.owner);
  EXPECT_EQ(given.leave->followers, std::vector{follower->lease.owner});
}

TEST_F(LineClientTest, DroppedWaitersLeaveTheirPlacesInOneCommand) {
  read(arrive().second);
  for (int i = 0; i < 5; ++i) stand();
  ASSERT_EQ(server_.places().size(), 5U);
  LineClient::Actions actions;
  EXPECT_EQ(client_.dropAll(false, actions).size(), 5U);
  EXPECT_TRUE(actions.empty());
  EXPECT_EQ(tick(), 1U);
  EXPECT_TRUE(server_.places().empty());
}

TEST_F(LineClientTest, WaiterThatAsksAgainInVainLeavesThePlaceItHad) {
  read(arrive().second);
  const auto waiter = stand();
  server_.expireAlive("p");
  LineClient::Actions actions;
  client_.replied(lock::BeatCommand{}, {lock::LineVerdict::kNo}, now_, now_, actions);
  ASSERT_EQ(actions.size(), 1U);
  const auto again = std::get<LineClient::Send>(actions[0]).command;
  actions.clear();
  client_.lost(again, false, now_, actions);
  ASSERT_EQ(std::get<LineClient::Broken>(actions.at(0)).waiter, waiter);
  tick();
  EXPECT_TRUE(server_.places().empty());
}

TEST_F(LineClientTest, NewWaiterWhoseArrivalWasNotSentHasNothingToLeave) {
  LineClient::Actions actions;
  client_.arrive("k", kLease, true, actions);
  const auto arrival = std::get<LineClient::Send>(actions.at(0)).command;
  actions.clear();
  client_.lost(arrival, false, now_, actions);
  EXPECT_EQ(tick(), 0U);
}

TEST_F(LineClientTest, LostLeaveOfALeaseThatIsNotOursIsNotRepeated) {
  LineClient::Actions actions;
  for (const auto* owner : {"", "a,b", "p", "another:1:1000"})
    client_.lost(*client_.giveBack({"k", owner}, now_).leave, true, now_, actions);
  EXPECT_EQ(tick(), 0U);
}

TEST_F(LineClientTest, LostLeaveIsRepeatedWhenTheLeaseIsLongOver) {
  const auto first = read(arrive().second);
  for (int i = 0; i < 3; ++i) stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  const auto follower = client_.giveBack(leader->lease, now_).next;
  now_ += kLease / 8;
  const auto leave = *client_.giveBack(follower->lease, now_).leave;
  LineClient::Actions actions;
  client_.lost(leave, false, now_, actions);
  now_ += 10 * kLease;
  ASSERT_EQ(server_.places().size(), 2U);
  tick();
  EXPECT_EQ(server_.places().size(), 0U) << "the other one is granted the key";
}

TEST_F(LineClientTest, HoldThatWasProlongedAtTheLastMomentIsGivenBackAsAWhole) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  auto follower = client_.giveBack(leader->lease, now_).next->lease;
  EXPECT_EQ(client_.prolonging(follower), leader->lease.owner);
  now_ = follower.validUntil;
  tick();
  follower.validUntil += kLease;
  client_.prolonged(follower);
  const auto given = client_.giveBack(follower, now_);
  ASSERT_TRUE(given.leave);
  EXPECT_EQ(given.leave->ticket, leader->lease.owner);
}

TEST_F(LineClientTest, PlacesOfFollowersAreLeftWhenNobodyGivesTheHoldBack) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  ASSERT_TRUE(client_.giveBack(leader->lease, now_).next);
  ASSERT_EQ(server_.places().size(), 1U);
  now_ = leader->lease.validUntil - Millis{1};
  EXPECT_EQ(tick(), 0U);
  now_ = leader->lease.validUntil;
  EXPECT_EQ(tick(), 1U);
  EXPECT_TRUE(server_.places().empty());
}

}  // namespace festa::test
