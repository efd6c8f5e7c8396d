#include "lock/redis/redlock/redlock_round.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <utility>

namespace festa::lock {

struct RedlockRound::State {
  State(std::vector<Seat> all, Until what)
      : until(what), seats(std::move(all)), vote(seats.size()) {}

  void report(std::size_t seat, const NodeReply& reply);
  void count(const NodeReply& reply);
  void finish();
  void takeBackFrom(const Seat& seat) const;

  trantor::EventLoop* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const Until until;
  std::vector<Seat> seats;
  Quorum vote;  // unchanged once over
  bool over = false;
  std::coroutine_handle<> waiting;  // set only while a coroutine awaits and it is not over
  std::optional<TakeBack> takeBack;
};

void RedlockRound::State::report(std::size_t seat, const NodeReply& reply) {
  seats[seat].reply = reply;
  if (!over) {
    count(reply);
    const bool isDecided = vote.verdict() != Quorum::Verdict::kOpen;
    if (until == Until::kDecided ? isDecided : vote.isClear()) finish();
  }
  takeBackFrom(seats[seat]);
}

void RedlockRound::State::count(const NodeReply& reply) {
  switch (reply.kind) {
    case NodeReply::Kind::kYes: vote.grant(); break;
    case NodeReply::Kind::kNo: vote.refuse(); break;
    default: vote.fail();
  }
}

void RedlockRound::State::finish() {
  over = true;
  // From the loop's queue: the asker must not run inside the coroutine of one node's answer.
  if (const auto handle = std::exchange(waiting, nullptr))
    loop->queueInLoop([handle] { handle.resume(); });
}

void RedlockRound::State::takeBackFrom(const Seat& seat) const {
  if (takeBack && seat.reply && takeBack->meant(*seat.reply))
    seat.node->giveBackUntil(takeBack->key, takeBack->owner, takeBack->until);
}

RedlockRound::RedlockRound(std::vector<Seat> seats, Until until)
    : state_(std::make_shared<State>(std::move(seats), until)) {
  for (const auto& seat : state_->seats)
    if (seat.reply) state_->count(*seat.reply);
}

std::vector<RedlockRound::Seat> RedlockRound::seatsOfThoseThatAgree() const {
  std::vector<Seat> seats;
  for (const auto& seat : state_->seats) {
    const auto said = seat.reply.value_or(NodeReply{});
    const bool isAsked = said.kind == NodeReply::Kind::kYes;
    seats.push_back({seat.node, isAsked ? std::nullopt : std::optional(said)});
  }
  return seats;
}

std::vector<std::size_t> RedlockRound::unanswered() const {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < state_->seats.size(); ++i)
    if (!state_->seats[i].reply) open.push_back(i);
  return open;
}

RedlockNode& RedlockRound::nodeOf(std::size_t seat) const {
  return *state_->seats[seat].node;
}

drogon::AsyncTask RedlockRound::hear(std::shared_ptr<State> state, std::size_t seat,
                                     drogon::Task<NodeReply> answer) {
  const auto reply = co_await answer;
  state->report(seat, reply);
}

void RedlockRound::endAfter(Millis timeout) {
  if (state_->over) return;
  state_->loop->runAfter(std::chrono::duration<double>(timeout), [weak = std::weak_ptr(state_)] {
    const auto late = weak.lock();
    if (!late || late->over) return;
    late->vote.closeVote();
    late->finish();
  });
}

RedlockRound::Over RedlockRound::over() const {
  return Over(*state_);
}

bool RedlockRound::Over::await_ready() const {
  return state_.over;
}

void RedlockRound::Over::await_suspend(std::coroutine_handle<> handle) {
  state_.waiting = handle;
}

const Quorum& RedlockRound::vote() const {
  return state_->vote;
}

std::int64_t RedlockRound::largestNumber() const {
  std::int64_t largest = 0;
  for (const auto& seat : state_->seats)
    if (seat.reply) largest = std::max(largest, seat.reply->number);
  return largest;
}

void RedlockRound::takeBack(TakeBack what) {
  state_->takeBack = std::move(what);
  for (const auto& seat : state_->seats) state_->takeBackFrom(seat);
}

}  // namespace festa::lock
