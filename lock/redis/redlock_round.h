// One question to all nodes of a Redlock at once.
#pragma once

#include "lock/redis/quorum.h"
#include "lock/redis/redlock_node.h"

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace trantor {
class EventLoop;
}

namespace festa::lock {

// Made and awaited on one event loop, where all replies arrive as well. Over as soon as the vote is
// decided or the time-out has passed; whoever has not answered by then has failed. Stragglers keep
// the round alive and hurt nobody; onEach() hears of them.
class RedlockRound : public std::enable_shared_from_this<RedlockRound> {
 public:
  using Ptr = std::shared_ptr<RedlockRound>;
  using NodePtr = std::shared_ptr<RedlockNode>;
  using Question = std::function<drogon::Task<NodeReply>(RedlockNode&)>;
  using OnReply = std::function<void(const NodePtr&, const NodeReply&)>;

  // What the asker waits for; see Quorum.
  enum class Until { kDecided, kClear };

  static Ptr ask(const std::vector<NodePtr>& nodes, const Question& question, Until until,
                 Millis timeout);
  // The nodes that have said yes get another question; the others keep what they said.
  Ptr askAgain(const Question& question, Until until, Millis timeout) const;

  // Awaited at most once.
  class Over {
   public:
    explicit Over(RedlockRound& round) : round_(round) {}
    Over(const Over&) = delete;
    Over& operator=(const Over&) = delete;
    bool await_ready() const { return round_.over_; }
    void await_suspend(std::coroutine_handle<> handle) { round_.waiting_ = handle; }
    void await_resume() const {}

   private:
    RedlockRound& round_;
  };
  Over over() { return Over(*this); }

  const Quorum& vote() const { return vote_; }
  bool isGranted() const { return vote_.verdict() == Quorum::Verdict::kGranted; }
  std::int64_t largestNumber() const;
  // Calls back for every reply: now for those that are here, later for those still to come.
  void onEach(OnReply callback);

 private:
  struct Seat {
    NodePtr node;
    std::optional<NodeReply> reply;
  };

  RedlockRound(std::vector<Seat> seats, Until until);
  static Ptr start(std::vector<Seat> seats, const Question& question, Until until, Millis timeout);
  static drogon::AsyncTask askOne(Ptr round, std::size_t seat, Question question);
  void report(std::size_t seat, NodeReply reply);
  void count(const NodeReply& reply);
  void finish();

  trantor::EventLoop* const loop_;
  const Until until_;
  std::vector<Seat> seats_;
  Quorum vote_;  // unchanged once over
  bool over_ = false;
  std::coroutine_handle<> waiting_;  // set only while somebody awaits and it is not over
  OnReply onReply_;
};

}  // namespace festa::lock
