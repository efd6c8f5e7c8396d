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

RedisLine::RedisLine(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                     const LineSurroundings& around)
    : commands_(commands),
      keys_(std::move(keys)),
      holds_(commands_, keys_, epochs),
      process_(processName()),
      around_(around),
      client_(process_) {}

template <class Decision>
void RedisLine::decide(Decision decision) {
  LineClient::Actions actions;
  std::vector<std::pair<Place, PlaceEnd>> ends;
  const auto end = [&](WaiterId waiter, PlaceEnd how) {
    if (auto node = places_.extract(waiter))
      ends.emplace_back(std::move(node.mapped()), std::move(how));
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
  for (auto& [place, how] : ends) place.listener->placeEnded(place.key, std::move(how));
}

// A coroutine that stands in line.
class RedisLine::Standing : public PlaceListener {
 public:
  void placeEnded(const LockKey&, PlaceEnd end) override {
    if (end.error)
      waiter_.fail(end.error);
    else if (end.lease)
      waiter_.grantNow(std::move(*end.lease));
    else
      waiter_.giveUp();
  }
  Waiter& waiter() { return waiter_; }

 private:
  Waiter waiter_;
};

drogon::Task<std::optional<Lease>> RedisLine::take(LockRequest request) {
  Standing standing;
  const bool waits = request.wait > Millis{0};
  const auto id = arrive(request.key, request.lease, waits, standing);
  if (waits)
    standing.waiter().loop()->runAfter(std::chrono::duration<double>(request.wait).count(),
                                       [this, id, waiter = &standing.waiter()] {
                                         // Only who is still in line is cancelled, and still there.
                                         if (cancel(id)) waiter->giveUp();
                                       });
  co_return co_await Waiter::Turn(standing.waiter());
}

WaiterId RedisLine::arrive(const LockKey& key, Millis lease, bool queue, PlaceListener& listener) {
  WaiterId waiter = 0;
  decide([&](auto& actions) {
    if (closed_) throw LockClosed();
    const auto& limits = around_.limits;
    if (queue &&
        (client_.waiters(key) >= limits.waitersPerKey || client_.waiters() >= limits.waitersInAll))
      throw LockQueueFull();
    waiter = client_.arrive(key, lease, queue, actions);
    places_.emplace(waiter, Place{key, &listener});
  });
  return waiter;
}

bool RedisLine::cancel(WaiterId waiter) {
  bool cancelled = false;
  decide([&](auto& actions) {
    cancelled = client_.cancel(waiter, actions);
    if (cancelled) places_.erase(waiter);
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
  const bool extended = co_await holds_.extend(onServer, extension);
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
  Place next;
  {
    const std::lock_guard guard(mutex_);
    given = client_.giveBack(lease, SteadyClock::now());
    if (given.next) next = std::move(places_.extract(given.next->waiter).mapped());
    armTimer();
  }
  if (given.leave) {
    const auto left = co_await handOver(std::move(*given.leave));
    co_return left;
  }
  if (!given.next) co_return Left{Unlocked::kLost};
  trantor::EventLoop::getEventLoopOfCurrentThread()->queueInLoop(
      [next = std::move(next), lease = std::move(given.next->lease)] {
        next.listener->placeEnded(next.key, {.lease = lease});
      });
  co_return Left{Unlocked::kReleased};
}

RedisLine::Succession RedisLine::nameSuccessor(const Lease& lease, Millis nextLease, bool keep,
                                               PlaceListener& listener) {
  const std::lock_guard guard(mutex_);
  auto [successor, leave] = client_.succeed(lease, nextLease, keep);
  places_.emplace(successor, Place{lease.key, &listener});
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
    waiting_ = handle;
    line_.say(std::move(command_), this);
  }
  std::optional<LineReply> await_resume() { return std::move(reply_); }

  void answer(std::optional<LineReply> reply) {
    reply_ = std::move(reply);
    waiting_.resume();
  }

 private:
  RedisLine& line_;
  LineCommand command_;
  std::coroutine_handle<> waiting_;
  std::optional<LineReply> reply_;
};

drogon::Task<RedisLine::Left> RedisLine::handOver(LeaveCommand leave) {
  Exchange exchange(*this, std::move(leave));
  const auto reply = co_await exchange;
  if (!reply) co_return Left{};
  co_return Left{reply->verdict == LineVerdict::kYes ? Unlocked::kReleased : Unlocked::kLost,
                 reply->others};
}

void RedisLine::say(LineCommand command, Exchange* exchange) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const std::lock_guard guard(mutex_);
  auto& turn = turns_[loop];
  turn.push_back({std::move(command), exchange});
  if (turn.size() == 1) loop->queueInLoop([this, loop] { endTurn(loop, 1); });
}

// Once all who are queued on the loop have had their say.
void RedisLine::endTurn(trantor::EventLoop* loop, std::size_t said) {
  Turn turn;
  {
    const std::lock_guard guard(mutex_);
    auto& saying = turns_[loop];
    const auto size = saying.size();
    if (size > said && size < kStepsPerCall) {
      loop->queueInLoop([this, loop, size] { endTurn(loop, size); });
      return;
    }
    turn.swap(saying);
  }
  send(std::move(turn));
}

// One call for all keys, or several where much is said.
void RedisLine::send(Turn turn) {
  const auto key = [](const Said& said) {
    const auto* about = keyOf(said.command);
    return about ? std::string_view(*about) : std::string_view();
  };
  if (turn.size() > 1) std::ranges::stable_sort(turn, {}, key);
  std::vector<LineCommand> commands;
  std::vector<Exchange*> exchanges;
  for (std::size_t i = 0; i < turn.size(); ++i) {
    const bool isAlone = key(turn[i]).empty();
    commands.push_back(std::move(turn[i].command));
    exchanges.push_back(turn[i].exchange);
    if (isAlone || commands.size() == kStepsPerCall || i + 1 == turn.size())
      carry(std::exchange(commands, {}), std::exchange(exchanges, {}));
  }
}

drogon::AsyncTask RedisLine::carry(std::vector<LineCommand> commands,
                                   std::vector<Exchange*> exchanges) {
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
  // Those in line hear of it once, instead of each waiting for its own time-out.
  if (replies.empty() && std::holds_alternative<BeatCommand>(commands[0]) && commands_.isAway())
    failAll(false, noAnswer);
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (exchanges[i])
      exchanges[i]->answer(replies.empty() ? std::nullopt : std::optional(std::move(replies[i])));
}

drogon::Task<std::vector<LineReply>> RedisLine::ask(const std::vector<LineCommand>& commands) {
  const auto call = callOf(commands, keys_, process_);
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<LineReply> replies;
    try {
      if (attempt > 0) co_await holds_.startNewEpoch();
      const auto answer = co_await holds_.run(call.script, call.keys, call.arguments);
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
  if (std::holds_alternative<BeatCommand>(command)) listen();
  say(std::move(command), nullptr);
}

void RedisLine::failAll(bool quits, std::exception_ptr (*error)()) {
  std::vector<Place> dropped;
  decide([&](auto& actions) {
    for (const auto waiter : client_.dropAll(quits, actions))
      if (auto node = places_.extract(waiter)) dropped.push_back(std::move(node.mapped()));
  });
  for (auto& place : dropped) place.listener->placeEnded(place.key, {.error = error()});
}

void RedisLine::close() {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  // On a loop where commands may be sent.
  around_.timers->queueInLoop([this] { failAll(true, closed); });
}

void RedisLine::listen() {
  std::call_once(listening_, [this] { around_.timers->queueInLoop([this] { subscribe(); }); });
}

void RedisLine::subscribe() {
  subscriber_ = around_.messages.here()->newSubscriber();
  subscriber_->subscribe(keys_.wake(process_),
                         [this](const std::string&, const std::string& text) { hear(text); });
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
                           [this, armedFor = armedFor_] { onTimer(armedFor); });
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
