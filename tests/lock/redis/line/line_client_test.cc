// What the simulation meets too rarely: replies in an order that one loop alone does not make.
#include "lock/redis/line/line_client.h"

#include "lock/redis/line/heartbeat.h"
#include "tests/support/lock/line_model.h"

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
const lock::LockRequest kRequest{"k", Millis{60'000}, kLease};

class LineClientTest : public testing::Test {
 protected:
  explicit LineClientTest(lock::LinePolicy policy = lock::LinePolicy::kPlacePerWaiter)
      : client_("p", policy) {}

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
  std::pair<WaiterId, Said> arrive(std::size_t together = 1) {
    LineClient::Actions actions;
    auto request = kRequest;
    request.together = together;
    const auto waiter = client_.arrive(request, now_, actions);
    return {waiter, execute(std::get<LineClient::Send>(actions.at(0)).command)};
  }
  // Who got the key by this reply.
  std::vector<LineClient::Granted> readAll(const Said& said) {
    LineClient::Actions actions;
    client_.replied(said.command, said.reply, said.sent, now_, actions);
    std::vector<LineClient::Granted> all;
    for (auto& action : actions)
      if (auto* granted = std::get_if<LineClient::Granted>(&action))
        all.push_back(std::move(*granted));
    return all;
  }
  std::optional<LineClient::Granted> read(const Said& said) {
    auto all = readAll(said);
    EXPECT_LE(all.size(), 1U);
    return all.empty() ? std::nullopt : std::optional(std::move(all[0]));
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
  WaiterId stand(std::size_t together = 1) {
    const auto [waiter, said] = arrive(together);
    read(said);
    return waiter;
  }

  // Who has the key after that, without the server.
  LineClient::Granted giveTurn(const Lease& lease) {
    auto given = client_.giveBack(lease, now_);
    EXPECT_TRUE(given.released);
    EXPECT_FALSE(given.leave);
    return std::move(given.next.at(0));
  }

  SteadyTime now_{std::chrono::hours(1)};
  LineModel server_;
  LineClient client_;
};

// Another process has the key and gives it back while this one waits and is ready: it is granted
// the key by message.
class ReadyTest : public LineClientTest {
 protected:
  static constexpr Millis kLease{4000};

  void SetUp() override {
    LineClientTest::SetUp();
    server_.execute(lock::ArriveCommand{"k", "q:1:30000"}, "q", now_);
  }
  WaiterId standReady() {
    LineClient::Actions actions;
    const auto waiter = client_.arrive({"k", Millis{60'000}, kLease}, now_, actions);
    read(execute(std::get<LineClient::Send>(actions.at(0)).command));
    return waiter;
  }
  // The first beats tell that messages arrive; the last one has a number.
  void beatTwice() {
    for (int i = 0; i < 2; ++i) {
      carryOutWhatIsDue();
      now_ += lock::Heartbeat::kEvery;
    }
  }
  // True: it has looked at a key.
  bool carryOutWhatIsDue() {
    LineClient::Actions actions;
    client_.tick(now_, actions);
    bool looked = carryOut(actions);
    for (const auto& message : server_.takeMessages()) looked |= carryOut(hear(message));
    return looked;
  }
  bool carryOut(const LineClient::Actions& actions) {
    bool looked = false;
    for (const auto& action : actions) {
      const auto said = execute(std::get<LineClient::Send>(action).command);
      if (std::holds_alternative<lock::BeatCommand>(said.command)) beatAt_ = now_;
      looked |= std::holds_alternative<lock::LookCommand>(said.command);
      read(said);
    }
    return looked;
  }
  LineModel::Message otherLeaves() {
    server_.execute(lock::LeaveCommand{"k", "q:1:30000"}, "q", now_);
    auto messages = server_.takeMessages();
    EXPECT_EQ(messages.size(), 1U);
    return messages.at(0);
  }
  LineClient::Actions hear(const LineModel::Message& message) {
    LineClient::Actions actions;
    client_.heard(message.text, now_, actions);
    return actions;
  }

  SteadyTime beatAt_;
};

// One place for all waiters of the process.
class OnePlaceTest : public LineClientTest {
 protected:
  OnePlaceTest() : LineClientTest(lock::LinePolicy::kPlacePerKey) {}

  // In line here; nothing is asked.
  WaiterId standHere(std::size_t together = 1) {
    LineClient::Actions actions;
    auto request = kRequest;
    request.together = together;
    const auto waiter = client_.arrive(request, now_, actions);
    EXPECT_TRUE(actions.empty());
    return waiter;
  }
  // Another process has the key.
  void otherHolds() { server_.execute(lock::ArriveCommand{"k", "q:1:8000"}, "q", now_); }
  void otherLeaves() { server_.execute(lock::LeaveCommand{"k", "q:1:8000"}, "q", now_); }
  // The offers that the server has made to this process.
  std::optional<LineClient::Granted> hearOffer() {
    std::optional<LineClient::Granted> granted;
    for (const auto& message : server_.takeMessages()) {
      LineClient::Actions actions;
      client_.heard(message.text, now_, actions);
      for (auto& action : actions)
        if (auto one = read(execute(std::get<LineClient::Send>(action).command)))
          granted = std::move(one);
    }
    return granted;
  }
};

}  // namespace

TEST_F(LineClientTest, NoWaiterPassesAFollowerWhoseReplyIsOnItsWay) {
  const auto first = read(arrive().second);
  const auto second = stand();
  const auto [third, unread] = arrive();
  stand();
  const auto granted = read(execute(*client_.giveBack(first->lease, now_).leave));
  ASSERT_EQ(granted->waiter, second);
  const auto given = client_.giveBack(granted->lease, now_);
  EXPECT_TRUE(given.next.empty());
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
  ASSERT_EQ(given.next.size(), 1U);
  EXPECT_EQ(given.next[0].waiter, fourth);
  EXPECT_EQ(given.next[0].lease.fence, granted->lease.fence + 1);
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
  ASSERT_EQ(given.next.size(), 1U);
  EXPECT_EQ(given.next[0].waiter, fifth);
}

TEST_F(LineClientTest, WhoHasGivenItsTurnToAnotherCanNeitherProlongNorGiveItBack) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  const auto follower = giveTurn(leader->lease);
  EXPECT_FALSE(client_.prolonging(leader->lease));
  const auto again = client_.giveBack(leader->lease, now_);
  EXPECT_FALSE(again.leave || again.released || !again.next.empty());
  EXPECT_EQ(client_.prolonging(follower.lease), leader->lease.owner);
}

TEST_F(LineClientTest, TheLastFollowerHasAtLeastItsShareOfTheLease) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  now_ += lock::youngTime(kLease) - Millis{1};
  const auto follower = giveTurn(leader->lease);
  EXPECT_EQ(follower.lease.validUntil - now_, lock::leastFollowerTime(kLease) + Millis{1});
}

TEST_F(LineClientTest, AnOldHoldIsGivenBackToTheServerWithAllWhoHadIt) {
  const auto first = read(arrive().second);
  for (int i = 0; i < 3; ++i) stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  const auto follower = giveTurn(leader->lease);
  now_ += kLease / 8;
  const auto given = client_.giveBack(follower.lease, now_);
  ASSERT_TRUE(given.leave);
  EXPECT_EQ(given.leave->ticket, leader->lease.owner);
  EXPECT_EQ(given.leave->followers, std::vector{follower.lease.owner});
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
  client_.arrive(kRequest, now_, actions);
  const auto arrival = std::get<LineClient::Send>(actions.at(0)).command;
  actions.clear();
  client_.lost(arrival, false, now_, actions);
  EXPECT_EQ(tick(), 0U);
}

TEST_F(LineClientTest, ALeaseThatIsNotOfThisProcessIsNotGivenBack) {
  for (const auto* owner : {"", "a,b", "p", "p 1", "another:1:1000"}) {
    const auto given = client_.giveBack(Lease("k", owner, 0), now_);
    EXPECT_FALSE(given.released || given.leave || !given.next.empty()) << owner;
  }
}

TEST_F(LineClientTest, LostLeaveIsRepeatedWhenTheLeaseIsLongOver) {
  const auto first = read(arrive().second);
  for (int i = 0; i < 3; ++i) stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  const auto follower = giveTurn(leader->lease);
  now_ += kLease / 8;
  const auto leave = *client_.giveBack(follower.lease, now_).leave;
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
  auto follower = giveTurn(leader->lease).lease;
  EXPECT_EQ(client_.prolonging(follower), leader->lease.owner);
  now_ = follower.validUntil;
  tick();
  follower.validUntil += kLease;
  client_.prolonged(follower);
  const auto given = client_.giveBack(follower, now_);
  ASSERT_TRUE(given.leave);
  EXPECT_EQ(given.leave->ticket, leader->lease.owner);
}

TEST_F(LineClientTest, PlacesOfFollowersAreLeftWhenTheHoldIsNotGivenBack) {
  const auto first = read(arrive().second);
  stand();
  stand();
  const auto leader = read(execute(*client_.giveBack(first->lease, now_).leave));
  giveTurn(leader->lease);
  ASSERT_EQ(server_.places().size(), 1U);
  now_ = leader->lease.validUntil - Millis{1};
  EXPECT_EQ(tick(), 0U);
  now_ = leader->lease.validUntil;
  EXPECT_EQ(tick(), 1U);
  EXPECT_TRUE(server_.places().empty());
}

TEST_F(ReadyTest, AWaiterHasTheKeyByTheMessageAndCountsItsLeaseFromBeforeTheBeat) {
  const auto waiter = standReady();
  beatTwice();
  const auto message = otherLeaves();
  const auto actions = hear(message);
  ASSERT_EQ(actions.size(), 1U);
  const auto& granted = std::get<LineClient::Granted>(actions[0]);
  EXPECT_EQ(granted.waiter, waiter);
  EXPECT_EQ(granted.lease.fence, std::get<lock::GrantMessage>(message.text).fence);
  EXPECT_EQ(granted.lease.validUntil, beatAt_ + kLease - lock::driftMargin(kLease));
  EXPECT_LE(granted.lease.validUntil, now_ + kLease);
}

TEST_F(ReadyTest, AMessageThatNamesAnOldBeatIsConfirmed) {
  const auto waiter = standReady();
  beatTwice();
  const auto message = otherLeaves();
  now_ = beatAt_ + lock::youngTime(kLease);
  const auto actions = hear(message);
  ASSERT_EQ(actions.size(), 1U);
  const auto confirmed = read(execute(std::get<LineClient::Send>(actions[0]).command));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->waiter, waiter);
  EXPECT_EQ(confirmed->lease.validUntil, now_ + kLease - lock::driftMargin(kLease));
}

TEST_F(ReadyTest, NeighboursAreOfferedTheKeySoThatAllOfThemHaveAWholeLease) {
  standReady();
  const auto second = standReady();
  beatTwice();
  const auto actions = hear(otherLeaves());
  ASSERT_EQ(actions.size(), 1U);
  const auto first = read(execute(std::get<LineClient::Send>(actions[0]).command));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->lease.validUntil, now_ + kLease - lock::driftMargin(kLease));
  EXPECT_EQ(giveTurn(first->lease).waiter, second);
}

TEST_F(ReadyTest, AWaiterThatHasGoneGivesTheKeyBack) {
  const auto waiter = standReady();
  beatTwice();
  const auto message = otherLeaves();
  LineClient::Actions cancelled;
  ASSERT_TRUE(client_.cancel(waiter, cancelled));
  const auto actions = hear(message);
  ASSERT_EQ(actions.size(), 1U);
  execute(std::get<LineClient::Send>(actions[0]).command);
  const auto after = server_.execute(lock::LookCommand{"k", ""}, "q", now_);
  EXPECT_TRUE(after.holder.empty());
}

TEST_F(ReadyTest, AMessageThatIsHeardTwiceIsOneGrant) {
  standReady();
  beatTwice();
  const auto message = otherLeaves();
  EXPECT_EQ(hear(message).size(), 1U);
  EXPECT_TRUE(hear(message).empty());
}

// That reply may be lost: then the place is to be left, which a holder would not do.
TEST_F(ReadyTest, AGrantThatOvertakesTheReplyToItsArrivalIsConfirmedAfterIt) {
  const auto gone = standReady();
  beatTwice();
  LineClient::Actions actions;
  ASSERT_TRUE(client_.cancel(gone, actions));
  read(execute(std::get<LineClient::Send>(actions.at(0)).command));
  actions.clear();
  const auto waiter = client_.arrive({"k", Millis{60'000}, kLease}, now_, actions);
  const auto unread = execute(std::get<LineClient::Send>(actions.at(0)).command);
  EXPECT_TRUE(hear(otherLeaves()).empty());
  actions.clear();
  client_.replied(unread.command, unread.reply, unread.sent, now_, actions);
  ASSERT_EQ(actions.size(), 1U);
  const auto granted = read(execute(std::get<LineClient::Send>(actions[0]).command));
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->waiter, waiter);
}

// The leaver, which would look when the lease of the grant ends, may be gone as well.
TEST_F(ReadyTest, ThoseBehindAGrantLookWhenItsLeaseEnds) {
  standReady();
  server_.execute(lock::ArriveCommand{"k", "r:1:4000"}, "r", now_);
  standReady();
  beatTwice();
  ASSERT_EQ(hear(otherLeaves()).size(), 1U);
  const auto granted = now_;
  std::optional<SteadyTime> looked;
  while (!looked && now_ < granted + 2 * kLease) {
    now_ += Millis{10};
    if (carryOutWhatIsDue()) looked = now_;
  }
  ASSERT_TRUE(looked);
  EXPECT_GE(*looked, granted + kLease);
  EXPECT_LE(*looked, granted + kLease + Millis{20});
}

TEST_F(OnePlaceTest, WaitersBehindAHolderOfTheProcessAskNothing) {
  const auto first = read(arrive().second);
  ASSERT_TRUE(first);
  standHere();
  EXPECT_TRUE(server_.places().empty());
}

TEST_F(OnePlaceTest, WithoutWaitAKeyOfTheProcessIsBusyUntilItsLeaseIsOver) {
  const auto first = read(arrive().second);
  const lock::LockRequest now{"k", Millis{0}, kLease};
  LineClient::Actions actions;
  const auto waiter = client_.arrive(now, now_, actions);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<LineClient::Busy>(actions[0]).waiter, waiter);
  now_ = first->lease.validUntil;
  actions.clear();
  client_.arrive(now, now_, actions);
  EXPECT_TRUE(std::holds_alternative<LineClient::Send>(actions.at(0)));
}

TEST_F(OnePlaceTest, OneCommandDrawsTheFencesOfAllWhoFollow) {
  const auto first = read(arrive().second);
  std::vector<WaiterId> line;
  for (int i = 0; i < 5; ++i) line.push_back(standHere());
  auto lease = first->lease.clone();
  auto next = read(execute(*client_.giveBack(lease, now_).leave));
  for (std::size_t i = 0;; ++i) {
    ASSERT_TRUE(next);
    EXPECT_EQ(next->waiter, line[i]);
    EXPECT_GT(next->lease.fence, lease.fence);
    EXPECT_NE(next->lease.owner, lease.owner);
    lease = std::move(next->lease);
    if (i + 1 == line.size()) break;
    next = giveTurn(lease);
  }
  const auto last = client_.giveBack(lease, now_);
  ASSERT_TRUE(last.leave);
  EXPECT_TRUE(last.leave->next.empty());
}

TEST_F(OnePlaceTest, AfterSixteenTurnsInARowAnotherProcessIsFirst) {
  auto lease = std::move(read(arrive().second)->lease);
  for (int i = 0; i < 40; ++i) standHere();
  server_.execute(lock::ArriveCommand{"k", "q:1:8000"}, "q", now_);
  int turns = 1;
  while (true) {
    auto given = client_.giveBack(lease, now_);
    auto next =
        given.leave ? read(execute(*given.leave)) : std::optional(std::move(given.next.at(0)));
    if (!next) break;
    lease = std::move(next->lease);
    ASSERT_LE(++turns, lock::kInARow);
  }
  EXPECT_EQ(turns, lock::kInARow);
  const auto offers = server_.takeMessages();
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers[0].process, "q");
  EXPECT_EQ(server_.places().size(), 1U) << "the next one here has a place behind it";
}

TEST_F(OnePlaceTest, WithoutAnotherProcessTheTurnsGoOn) {
  auto lease = std::move(read(arrive().second)->lease);
  for (int i = 0; i < 40; ++i) standHere();
  for (int i = 0; i < 40; ++i) {
    auto given = client_.giveBack(lease, now_);
    auto next =
        given.leave ? read(execute(*given.leave)) : std::optional(std::move(given.next.at(0)));
    ASSERT_TRUE(next) << i;
    lease = std::move(next->lease);
  }
}

TEST_F(OnePlaceTest, AnOfferThatIsConfirmedBringsTheFencesOfThoseBehind) {
  otherHolds();
  const auto first = stand();
  const auto second = standHere();
  otherLeaves();
  const auto granted = hearOffer();
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->waiter, first);
  EXPECT_EQ(giveTurn(granted->lease).waiter, second);
}

TEST_F(OnePlaceTest, ThePlaceOfACancelledWaiterServesTheNextOne) {
  otherHolds();
  const auto first = stand();
  const auto second = standHere();
  const auto third = standHere();
  LineClient::Actions actions;
  EXPECT_TRUE(client_.cancel(first, actions));
  EXPECT_TRUE(client_.cancel(second, actions));
  EXPECT_TRUE(actions.empty()) << "the place was left";
  ASSERT_EQ(server_.places().size(), 1U);
  otherLeaves();
  const auto granted = hearOffer();
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->waiter, third);
}

TEST_F(OnePlaceTest, ThePlaceOfTheLastWaiterIsLeftWithIt) {
  otherHolds();
  const auto first = stand();
  const auto second = standHere();
  LineClient::Actions actions;
  client_.cancel(first, actions);
  client_.cancel(second, actions);
  ASSERT_EQ(actions.size(), 1U);
  execute(std::get<LineClient::Send>(actions[0]).command);
  EXPECT_TRUE(server_.places().empty());
}

TEST_F(OnePlaceTest, AGrantForAWaiterThatWasCancelledWhileItAskedGoesToTheNextOne) {
  const auto [first, unread] = arrive();
  const auto second = standHere();
  LineClient::Actions actions;
  EXPECT_TRUE(client_.cancel(first, actions));
  const auto granted = read(unread);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->waiter, second);
}

TEST_F(OnePlaceTest, WhenTheServerIsLostAllWhoWaitHereHearOfIt) {
  LineClient::Actions actions;
  const auto first = client_.arrive(kRequest, now_, actions);
  const auto arrival = std::get<LineClient::Send>(actions.at(0)).command;
  const auto second = standHere();
  actions.clear();
  client_.lost(arrival, true, now_, actions);
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(std::get<LineClient::Broken>(actions[0]).waiter, first);
  EXPECT_EQ(std::get<LineClient::Broken>(actions[1]).waiter, second);
}

TEST_F(OnePlaceTest, TheFirstOneAsksWhenAHolderHereDoesNotGiveBack) {
  const auto held = read(arrive().second);
  const auto second = standHere();
  ASSERT_TRUE(client_.nextTick());
  EXPECT_LE(*client_.nextTick(), held->lease.validUntil + lock::kLookMargin);
  now_ = held->lease.validUntil + lock::kLookMargin + lock::driftMargin(kLease);
  LineClient::Actions actions;
  client_.tick(now_, actions);
  ASSERT_EQ(actions.size(), 1U);
  const auto granted = read(execute(std::get<LineClient::Send>(actions[0]).command));
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->waiter, second);
  const auto late = client_.giveBack(held->lease, now_);
  EXPECT_FALSE(late.released);
  EXPECT_TRUE(late.next.empty()) << "a late unlock has given the key of its successor away";
}

TEST_F(LineClientTest, NeighboursHaveTheKeyTogetherWithConsecutiveFences) {
  const auto held = read(arrive().second);
  std::vector<WaiterId> line;
  for (int i = 0; i < 10; ++i) line.push_back(stand(9));
  const auto turn = readAll(execute(*client_.giveBack(held->lease, now_).leave));
  ASSERT_EQ(turn.size(), 9U) << "more than follow one after the other";
  for (std::size_t i = 0; i < turn.size(); ++i) {
    EXPECT_EQ(turn[i].waiter, line[i]);
    EXPECT_EQ(turn[i].lease.fence, turn[0].lease.fence + static_cast<std::int64_t>(i));
    ASSERT_TRUE(turn[i].lease.company);
    EXPECT_EQ(turn[i].lease.company, turn[0].lease.company);
    EXPECT_EQ(turn[i].lease.ordinal, i);
  }
  EXPECT_EQ(turn[0].lease.company->size(), 9U);
  for (std::size_t i = 0; i + 1 < turn.size(); ++i) {
    const auto given = client_.giveBack(turn[i].lease, now_);
    EXPECT_TRUE(given.released);
    EXPECT_FALSE(given.leave || !given.next.empty()) << "the others still have the key";
  }
  const auto last = client_.giveBack(turn[8].lease, now_);
  ASSERT_TRUE(last.leave);
  const auto next = read(execute(*last.leave));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->waiter, line[9]);
  EXPECT_FALSE(next->lease.company);
}

TEST_F(LineClientTest, OneThatDoesNotWantCompanyEndsTheTurnOfThoseBefore) {
  const auto held = read(arrive().second);
  stand(8);
  stand(8);
  const auto alone = stand(1);
  const auto behind = stand(8);
  const auto turn = readAll(execute(*client_.giveBack(held->lease, now_).leave));
  ASSERT_EQ(turn.size(), 2U);
  client_.giveBack(turn[1].lease, now_);
  const auto third = giveTurn(turn[0].lease);
  EXPECT_EQ(third.waiter, alone);
  EXPECT_FALSE(third.lease.company);
  EXPECT_EQ(giveTurn(third.lease).waiter, behind);
}

TEST_F(LineClientTest, AMemberThatHasGivenItsPartBackCannotDoSoAgain) {
  const auto held = read(arrive().second);
  stand(2);
  stand(2);
  const auto turn = readAll(execute(*client_.giveBack(held->lease, now_).leave));
  ASSERT_EQ(turn.size(), 2U);
  EXPECT_TRUE(client_.giveBack(turn[0].lease, now_).released);
  const auto again = client_.giveBack(turn[0].lease, now_);
  EXPECT_FALSE(again.released || again.leave || !again.next.empty());
  EXPECT_FALSE(client_.prolonging(turn[0].lease));
  EXPECT_TRUE(client_.prolonging(turn[1].lease));
}

TEST_F(LineClientTest, MembersThatComeAfterTheLeaseHaveLostIt) {
  const auto held = read(arrive().second);
  stand(2);
  stand(2);
  const auto turn = readAll(execute(*client_.giveBack(held->lease, now_).leave));
  ASSERT_EQ(turn.size(), 2U);
  now_ = turn[0].lease.validUntil;
  EXPECT_FALSE(client_.giveBack(turn[0].lease, now_).released);
}

TEST_F(OnePlaceTest, NeighboursHereHaveTheKeyTogether) {
  const auto held = read(arrive().second);
  std::vector<WaiterId> line;
  for (int i = 0; i < 5; ++i) line.push_back(standHere(4));
  const auto turn = readAll(execute(*client_.giveBack(held->lease, now_).leave));
  ASSERT_EQ(turn.size(), 4U);
  for (std::size_t i = 0; i < turn.size(); ++i) {
    EXPECT_EQ(turn[i].waiter, line[i]);
    EXPECT_EQ(turn[i].lease.ordinal, i);
    EXPECT_EQ(turn[i].lease.fence, turn[0].lease.fence + static_cast<std::int64_t>(i));
  }
  for (const std::size_t i : {2, 0, 3})
    EXPECT_TRUE(client_.giveBack(turn[i].lease, now_).next.empty());
  EXPECT_EQ(giveTurn(turn[1].lease).waiter, line[4]);
}

}  // namespace festa::test
