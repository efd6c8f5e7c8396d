#include "lock/redis/redis_line.h"

#include "lock/owner_id.h"
#include "lock/waiter.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>
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
      transport_(holds_, keys_, process_, *this),
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

drogon::Task<RedisLine::Left> RedisLine::handOver(LeaveCommand leave) {
  LineExchange exchange(transport_, std::move(leave));
  const auto reply = co_await exchange;
  if (!reply) co_return Left{};
  co_return Left{reply->verdict == LineVerdict::kYes ? Unlocked::kReleased : Unlocked::kLost,
                 reply->others};
}

void RedisLine::answered(const std::vector<LineCommand>& commands, const LineAnswer& answer) {
  const bool isLost = answer.replies.empty();
  decide([&](auto& actions) {
    const auto now = SteadyClock::now();
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (isLost)
        client_.lost(commands[i], answer.wasSent, now, actions);
      else
        client_.replied(commands[i], answer.replies[i], answer.sent, now, actions);
    }
  });
  // Those in line hear of it once, instead of each waiting for its own time-out.
  if (isLost && std::holds_alternative<BeatCommand>(commands[0]) && commands_.isAway())
    failAll(false, noAnswer);
}

void RedisLine::transmit(LineCommand command) {
  if (std::holds_alternative<BeatCommand>(command)) listen();
  transport_.say({std::move(command)});
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
