#include "lock/redis/redlock_round.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <utility>

namespace festa::lock {

RedlockRound::RedlockRound(std::vector<Seat> seats, Until until)
    : loop_(trantor::EventLoop::getEventLoopOfCurrentThread()),
      until_(until),
      seats_(std::move(seats)),
      vote_(seats_.size()) {}

RedlockRound::Ptr RedlockRound::ask(const std::vector<NodePtr>& nodes, const Question& question,
                                    Until until, Millis timeout) {
  std::vector<Seat> seats;
  seats.reserve(nodes.size());
  for (const auto& node : nodes) seats.push_back({node, std::nullopt});
  return start(std::move(seats), question, until, timeout);
}

RedlockRound::Ptr RedlockRound::askAgain(const Question& question, Until until,
                                         Millis timeout) const {
  std::vector<Seat> seats;
  for (const auto& seat : seats_) {
    const auto said = seat.reply.value_or(NodeReply{});
    const bool isAsked = said.kind == NodeReply::Kind::kYes;
    seats.push_back({seat.node, isAsked ? std::nullopt : std::optional(said)});
  }
  return start(std::move(seats), question, until, timeout);
}

RedlockRound::Ptr RedlockRound::start(std::vector<Seat> seats, const Question& question,
                                      Until until, Millis timeout) {
  Ptr round(new RedlockRound(std::move(seats), until));
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < round->seats_.size(); ++i)
    if (round->seats_[i].reply)
      round->count(*round->seats_[i].reply);
    else
      asked.push_back(i);
  for (const auto seat : asked) askOne(round, seat, question);
  if (round->over_) return round;
  round->loop_->runAfter(std::chrono::duration<double>(timeout),
                         [weak = std::weak_ptr<RedlockRound>(round)] {
                           const auto late = weak.lock();
                           if (!late || late->over_) return;
                           late->vote_.closeVote();
                           late->finish();
                         });
  return round;
}

drogon::AsyncTask RedlockRound::askOne(Ptr round, std::size_t seat, Question question) {
  const auto reply = co_await question(*round->seats_[seat].node);
  round->report(seat, reply);
}

void RedlockRound::report(std::size_t seat, NodeReply reply) {
  seats_[seat].reply = reply;
  if (!over_) {
    count(reply);
    const bool isDecided = vote_.verdict() != Quorum::Verdict::kOpen;
    if (until_ == Until::kDecided ? isDecided : vote_.isClear()) finish();
  }
  if (onReply_) onReply_(seats_[seat].node, reply);
}

void RedlockRound::count(const NodeReply& reply) {
  switch (reply.kind) {
    case NodeReply::Kind::kYes: vote_.grant(); break;
    case NodeReply::Kind::kNo: vote_.refuse(); break;
    default: vote_.fail();
  }
}

void RedlockRound::finish() {
  over_ = true;
  // From the loop's queue: the asker must not run inside the coroutine of one node's answer.
  if (const auto handle = std::exchange(waiting_, nullptr))
    loop_->queueInLoop([handle] { handle.resume(); });
}

std::int64_t RedlockRound::largestNumber() const {
  std::int64_t largest = 0;
  for (const auto& seat : seats_)
    if (seat.reply) largest = std::max(largest, seat.reply->number);
  return largest;
}

void RedlockRound::onEach(OnReply callback) {
  for (const auto& seat : seats_)
    if (seat.reply) callback(seat.node, *seat.reply);
  onReply_ = std::move(callback);
}

}  // namespace festa::lock
