// One question to all nodes of a Redlock at once.
#pragma once

#include "lock/redis/redlock/quorum.h"
#include "lock/redis/redlock/redlock_node.h"

#include <coroutine>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace festa::lock {

// Made and awaited on one event loop, where all replies arrive as well. Over as soon as the vote is
// decided or the time-out has passed; a node that has not answered by then has failed. The nodes
// outlive the loop. A copy is the same round.
class RedlockRound {
 public:
  // What the asker waits for; see Quorum.
  enum class Until { kDecided, kClear };

  // `question` takes a RedlockNode& and returns its Task<NodeReply>. It is called before this
  // returns.
  template <class Question>
  static RedlockRound ask(std::deque<RedlockNode>& nodes, const Question& question, Until until,
                          Millis timeout) {
    std::vector<Seat> seats;
    seats.reserve(nodes.size());
    for (auto& node : nodes) seats.push_back({&node, std::nullopt});
    return RedlockRound(std::move(seats), question, until, timeout);
  }
  // The nodes that have said yes get another question; the others keep what they said.
  template <class Question>
  RedlockRound askAgain(const Question& question, Until until, Millis timeout) const {
    return RedlockRound(seatsOfThoseThatAgree(), question, until, timeout);
  }

  // Awaited at most once.
  class Over;
  Over over() const;

  const Quorum& vote() const;
  bool isGranted() const { return vote().verdict() == Quorum::Verdict::kGranted; }
  std::int64_t largestNumber() const;

  // Gives back what the owner may hold on each node whose reply is `meant`, until the node confirms
  // or the lease is over: now for the replies that are here, later for those still to come.
  struct TakeBack {
    LockKey key;
    std::string owner;
    SteadyTime until;
    bool (*meant)(const NodeReply& reply);
  };
  void takeBack(TakeBack what);

 private:
  struct Seat {
    RedlockNode* node;
    std::optional<NodeReply> reply;
  };
  struct State;

  template <class Question>
  RedlockRound(std::vector<Seat> seats, const Question& question, Until until, Millis timeout)
      : RedlockRound(std::move(seats), until) {
    for (const auto seat : unanswered()) hear(state_, seat, question(nodeOf(seat)));
    endAfter(timeout);
  }
  RedlockRound(std::vector<Seat> seats, Until until);

  std::vector<Seat> seatsOfThoseThatAgree() const;
  std::vector<std::size_t> unanswered() const;
  RedlockNode& nodeOf(std::size_t seat) const;
  static drogon::AsyncTask hear(std::shared_ptr<State> state, std::size_t seat,
                                drogon::Task<NodeReply> answer);
  void endAfter(Millis timeout);

  // Shared with the replies that are still under way: they may come when the asker has gone.
  std::shared_ptr<State> state_;
};

class RedlockRound::Over {
 public:
  explicit Over(State& state) : state_(state) {}
  Over(const Over&) = delete;
  Over& operator=(const Over&) = delete;
  bool await_ready() const;
  void await_suspend(std::coroutine_handle<> handle);
  void await_resume() const {}

 private:
  State& state_;
};

}  // namespace festa::lock
