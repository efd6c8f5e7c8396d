#include "lock/redis/redis_line.h"

#include "lock/owner_id.h"
#include "lock/waiter.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>
#include <coroutine>
#include <utility>

namespace festa::lock {

namespace {

std::exception_ptr closed() {
  return std::make_exception_ptr(LockClosed());
}

std::exception_ptr noAnswer() {
  return std::make_exception_ptr(LockStorageUnavailable("Redis: no answer about a place in line"));
}

// A process's name in tickets: no colon, no space.
std::string processName() {
  auto name = randomOwnerPrefix();
  name.pop_back();
  return name;
}

}  // namespace

std::shared_ptr<RedisLine> RedisLine::create(std::shared_ptr<RedisCommands> commands,
                                             std::shared_ptr<RedisHolds> holds, RedisKeys keys,
                                             const LineSurroundings& around) {
  return std::shared_ptr<RedisLine>(
      new RedisLine(std::move(commands), std::move(holds), std::move(keys), around));
}

RedisLine::RedisLine(std::shared_ptr<RedisCommands> commands, std::shared_ptr<RedisHolds> holds,
                     RedisKeys keys, const LineSurroundings& around)
    : commands_(std::move(commands)),
      holds_(std::move(holds)),
      keys_(std::move(keys)),
      process_(processName()),
      around_(around),
      client_(process_) {}

template <class Decision>
void RedisLine::decide(Decision decision) {
  LineClient::Actions actions;
  std::vector<std::pair<Callback, End>> ends;
  const auto end = [&](WaiterId waiter, End how) {
    if (auto node = callbacks_.extract(waiter)) ends.emplace_back(std::move(node.mapped()), how);
  };
  {
    const std::lock_guard guard(mutex_);
    decision(actions);
    for (auto& action : actions) {
      if (auto* granted = std::get_if<LineClient::Granted>(&action))
        end(granted->waiter, {.lease = std::move(granted->lease)});
      else if (const auto* busy = std::get_if<LineClient::Busy>(&action))
        end(busy->waiter, {});
      else if (const auto* broken = std::get_if<LineClient::Broken>(&action))
        end(broken->waiter, {.error = noAnswer()});
    }
    armTimer();
  }
  for (auto& action : actions) {
    if (auto* send = std::get_if<LineClient::Send>(&action)) transmit(std::move(send->command));
  }
  for (auto& [callback, how] : ends) callback(std::move(how));
}

drogon::Task<std::optional<Lease>> RedisLine::take(LockRequest request) {
  const auto waiter = std::make_shared<Waiter>();
  const bool waits = request.wait > Millis{0};
  const auto id = arrive(request.key, request.lease, waits, [waiter](End end) {
    if (end.error)
      waiter->fail(end.error);
    else if (end.lease)
      waiter->grantNow(std::move(*end.lease));
    else
      waiter->giveUp();
  });
  if (waits)
    waiter->loop()->runAfter(std::chrono::duration<double>(request.wait).count(),
                             [line = weak_from_this(), weak = std::weak_ptr(waiter), id] {
                               const auto waiting = weak.lock();
                               const auto self = line.lock();
                               if (waiting && self && self->cancel(id)) waiting->giveUp();
                             });
  co_return co_await Waiter::Turn(waiter);
}

WaiterId RedisLine::arrive(const LockKey& key, Millis lease, bool queue, Callback callback) {
  WaiterId waiter = 0;
  decide([&](auto& actions) {
    if (closed_) throw LockClosed();
    const auto& limits = around_.limits;
    if (queue &&
        (client_.waiters(key) >= limits.waitersPerKey || client_.waiters() >= limits.waitersInAll))
      throw LockQueueFull();
    waiter = client_.arrive(key, lease, queue, actions);
    callbacks_.emplace(waiter, std::move(callback));
  });
  return waiter;
}

bool RedisLine::cancel(WaiterId waiter) {
  bool cancelled = false;
  decide([&](auto& actions) {
    cancelled = client_.cancel(waiter, actions);
    if (cancelled) callbacks_.erase(waiter);
  });
  return cancelled;
}

drogon::Task<bool> RedisLine::extend(Lease& lease, Extension extension) {
  Lease onServer = lease;
  {
    const std::lock_guard guard(mutex_);
    auto owner = client_.prolonging(lease);
    if (!owner) co_return false;
    onServer.owner = std::move(*owner);
  }
  const bool extended = co_await holds_->extend(onServer, extension);
  if (extended) {
    lease.fence = onServer.fence;
    lease.validUntil = onServer.validUntil;
    const std::lock_guard guard(mutex_);
    client_.prolonged(lease);
  }
  co_return extended;
}

drogon::Task<RedisLine::Left> RedisLine::giveBack(Lease lease) {
  LineClient::GivenBack given;
  Callback next;
  {
    const std::lock_guard guard(mutex_);
    given = client_.giveBack(lease, SteadyClock::now());
    if (given.next) next = std::move(callbacks_.extract(given.next->waiter).mapped());
    armTimer();
  }
  if (given.leave) {
    const auto left = co_await handOver(std::move(*given.leave));
    co_return left;
  }
  if (!given.next) co_return Left{Unlocked::kLost};
  trantor::EventLoop::getEventLoopOfCurrentThread()->queueInLoop(
      [next = std::move(next), lease = std::move(given.next->lease)] { next({.lease = lease}); });
  co_return Left{Unlocked::kReleased};
}

RedisLine::Succession RedisLine::nameSuccessor(const Lease& lease, Millis nextLease, bool keep,
                                               Callback callback) {
  const std::lock_guard guard(mutex_);
  auto [successor, leave] = client_.succeed(lease, nextLease, keep);
  callbacks_.emplace(successor, std::move(callback));
  return {successor, std::move(leave)};
}

// Awaits the reply to one command; nullopt: there was none.
class RedisLine::Exchange {
 public:
  Exchange(RedisLine& line, LineCommand command) : line_(line), command_(std::move(command)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    line_.say(std::move(command_), [this, handle](const LineReply* reply) {
      if (reply) reply_ = *reply;
      handle.resume();
    });
  }
  std::optional<LineReply> await_resume() { return std::move(reply_); }

 private:
  RedisLine& line_;
  LineCommand command_;
  std::optional<LineReply> reply_;
};

drogon::Task<RedisLine::Left> RedisLine::handOver(LeaveCommand leave) {
  const auto self = shared_from_this();
  Exchange exchange(*this, std::move(leave));
  const auto reply = co_await exchange;
  if (!reply) co_return Left{};
  co_return Left{reply->verdict == LineVerdict::kYes ? Unlocked::kReleased : Unlocked::kLost,
                 reply->others};
}

void RedisLine::say(LineCommand command, Reaction reaction) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const std::lock_guard guard(mutex_);
  auto& turn = turns_[loop];
  turn.emplace_back(std::move(command), std::move(reaction));
  if (turn.size() == 1)
    loop->queueInLoop([self = shared_from_this(), loop] { self->endTurn(loop, 1); });
}

// Once all who are queued on the loop have had their say.
void RedisLine::endTurn(trantor::EventLoop* loop, std::size_t said) {
  Turn turn;
  {
    const std::lock_guard guard(mutex_);
    auto& saying = turns_[loop];
    const auto size = saying.size();
    if (size > said && size < kStepsPerCall) {
      loop->queueInLoop([self = shared_from_this(), loop, size] { self->endTurn(loop, size); });
      return;
    }
    turn.swap(saying);
  }
  send(std::move(turn));
}

// One call for all keys, or several where much is said.
void RedisLine::send(Turn turn) {
  const auto key = [](const Turn::value_type& said) {
    const auto* about = keyOf(said.first);
    return about ? std::string_view(*about) : std::string_view();
  };
  if (turn.size() > 1) std::ranges::stable_sort(turn, {}, key);
  std::vector<LineCommand> commands;
  std::vector<Reaction> reactions;
  for (std::size_t i = 0; i < turn.size(); ++i) {
    const bool isAlone = key(turn[i]).empty();
    commands.push_back(std::move(turn[i].first));
    reactions.push_back(std::move(turn[i].second));
    if (isAlone || commands.size() == kStepsPerCall || i + 1 == turn.size())
      carry(std::exchange(commands, {}), std::exchange(reactions, {}));
  }
}

drogon::AsyncTask RedisLine::carry(std::vector<LineCommand> commands,
                                   std::vector<Reaction> reactions) {
  const auto self = shared_from_this();
  const auto sent = SteadyClock::now();
  bool wasSent = true;
  std::vector<LineReply> replies;  // none, or one for each command
  try {
    replies = co_await ask(commands);
  } catch (const RedisIsAway&) {
    wasSent = false;
  } catch (const std::exception& error) {
    LOG_DEBUG << "no reply about a line: " << error.what();
  }
  decide([&](auto& actions) {
    const auto now = SteadyClock::now();
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (!replies.empty())
        client_.replied(commands[i], replies[i], sent, now, actions);
      else
        client_.lost(commands[i], wasSent, now, actions);
    }
  });
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (reactions[i]) reactions[i](replies.empty() ? nullptr : &replies[i]);
}

drogon::Task<std::vector<LineReply>> RedisLine::ask(const std::vector<LineCommand>& commands) {
  const auto call = callOf(commands, keys_, process_);
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<LineReply> replies;
    try {
      if (attempt > 0) co_await holds_->startNewEpoch();
      const auto answer = co_await holds_->run(call.script, call.keys, call.arguments);
      replies = repliesOf(answer, commands);
    } catch (const RedisIsAway& away) {
      if (attempt == 0) throw;
      // The attempt before has left places in line: that is a loss, not "never sent".
      throw LockStorageUnavailable(away.what());
    }
    if (replies.at(0).verdict != LineVerdict::kNoEpoch) co_return replies;
  }
  throw LockStorageUnavailable("Redis loses its fence counter again and again");
}

void RedisLine::transmit(LineCommand command) {
  Reaction reaction;
  if (std::holds_alternative<BeatCommand>(command)) {
    listen();
    // Those in line hear of it once, instead of each waiting for its own time-out.
    reaction = [this](const LineReply* reply) {
      if (!reply && commands_->isAway()) failAll(false, noAnswer);
    };
  }
  say(std::move(command), std::move(reaction));
}

void RedisLine::failAll(bool quits, const std::function<std::exception_ptr()>& error) {
  std::vector<Callback> dropped;
  decide([&](auto& actions) {
    for (const auto waiter : client_.dropAll(quits, actions))
      if (auto node = callbacks_.extract(waiter)) dropped.push_back(std::move(node.mapped()));
  });
  for (auto& callback : dropped) callback({.error = error()});
}

void RedisLine::close() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  // On a loop where commands may be sent.
  around_.timers->queueInLoop([self = shared_from_this()] { self->failAll(true, closed); });
}

void RedisLine::listen() {
  std::call_once(listening_, [this] {
    around_.timers->queueInLoop([self = shared_from_this()] { self->subscribe(); });
  });
}

void RedisLine::subscribe() {
  subscriber_ = around_.messages.here()->newSubscriber();
  subscriber_->subscribe(keys_.wake(process_),
                         [weak = weak_from_this()](const std::string&, const std::string& text) {
                           if (const auto self = weak.lock()) self->hear(text);
                         });
}

void RedisLine::hear(const std::string& message) {
  const auto offer = offerOf(message);
  decide([&](auto& actions) {
    const auto now = SteadyClock::now();
    if (offer)
      client_.heardOffer(offer->ticket, offer->key, now, actions);
    else
      client_.heardEcho(now, actions);
  });
}

// Callers hold mutex_.
void RedisLine::armTimer() {
  const auto next = client_.nextTick();
  if (!next || *next >= armedFor_) return;
  armedFor_ = *next;
  const std::chrono::duration<double> delay = *next - SteadyClock::now();
  around_.timers->runAfter(std::max(delay.count(), 0.0),
                           [weak = weak_from_this(), armedFor = armedFor_] {
                             if (const auto self = weak.lock()) self->onTimer(armedFor);
                           });
}

void RedisLine::onTimer(SteadyTime armedFor) {
  decide([&](auto& actions) {
    // An earlier timer has taken its place.
    if (armedFor != armedFor_) return;
    armedFor_ = SteadyTime::max();
    client_.tick(SteadyClock::now(), actions);
  });
}

std::size_t RedisLine::waiters() const {
  const std::lock_guard guard(mutex_);
  return client_.waiters();
}

std::uint64_t RedisLine::offersMissed() const {
  const std::lock_guard guard(mutex_);
  return client_.offersMissed();
}

}  // namespace festa::lock
