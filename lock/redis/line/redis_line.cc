#include "lock/redis/line/redis_line.h"

#include "lock/engine/owner_id.h"

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

RedisLine::RedisLine(LinePolicy policy, RedisCommands& commands, RedisKeys keys,
                     EpochSource& epochs, const LineSurroundings& around)
    : commands_(commands),
      keys_(std::move(keys)),
      server_(commands_, keys_, epochs, FencedServer::Home::kChecked),
      holds_(server_, keys_),
      process_(processName()),
      around_(around),
      transport_(server_, keys_, process_, *this),
      client_(process_, policy) {}

template <class Decision>
void RedisLine::decide(Decision decision) {
  LineClient::Actions actions;
  std::vector<std::pair<Waiter*, LineClient::Action>> ends;
  const auto end = [&](WaiterId id, LineClient::Action& how) {
    if (const auto node = waiting_.extract(id)) ends.emplace_back(node.mapped(), std::move(how));
  };
  {
    const std::lock_guard guard(mutex_);
    decision(actions);
    for (auto& action : actions)
      std::visit(
          [&](auto& a) {
            if constexpr (requires { a.waiter; }) end(a.waiter, action);
          },
          action);
    armTimer();
  }
  for (auto& action : actions) {
    if (auto* send = std::get_if<LineClient::Send>(&action)) transmit(std::move(send->command));
  }
  for (auto& [waiter, how] : ends) {
    if (auto* granted = std::get_if<LineClient::Granted>(&how))
      waiter->grantNow(std::move(granted->lease));
    else if (std::holds_alternative<LineClient::Broken>(how))
      waiter->fail(noAnswer());
    else
      waiter->giveUp();
  }
}

drogon::Task<std::optional<Lease>> RedisLine::tryLock(LockRequest request) {
  Waiter waiter;
  const auto id = arrive(request, waiter);
  if (request.wait > Millis{0})
    waiter.loop()->runAfter(std::chrono::duration<double>(request.wait).count(),
                            [this, id, waiting = &waiter] {
                              // Only who is still in line is cancelled, and still there.
                              if (cancel(id)) waiting->giveUp();
                            });
  co_return co_await Waiter::Turn(waiter);
}

// Throws LockClosed, LockQueueFull.
WaiterId RedisLine::arrive(const LockRequest& request, Waiter& waiter) {
  WaiterId id = 0;
  decide([&](auto& actions) {
    if (closed_) throw LockClosed();
    const auto inLine = client_.waiters(request.key);
    if (request.wait > Millis{0} && around_.limits.areReached(inLine, client_.waiters()))
      throw LockQueueFull();
    id = client_.arrive(request, SteadyClock::now(), actions);
    waiting_.emplace(id, &waiter);
  });
  return id;
}

// False: the waiter has been told its end, or is about to be.
bool RedisLine::cancel(WaiterId id) {
  bool cancelled = false;
  decide([&](auto& actions) {
    cancelled = client_.cancel(id, actions);
    if (cancelled) waiting_.erase(id);
  });
  return cancelled;
}

drogon::Task<bool> RedisLine::extend(Lease& lease, Extension extension) {
  Lease onServer = lease.clone();
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

drogon::Task<Unlocked> RedisLine::unlock(Lease lease) {
  LineClient::GivenBack given;
  std::vector<Waiter*> next;
  {
    const std::lock_guard guard(mutex_);
    given = client_.giveBack(lease, SteadyClock::now());
    for (auto& granted : given.next) {
      next.push_back(waiting_.extract(granted.waiter).mapped());
      next.back()->keep(std::move(granted.lease));
    }
    armTimer();
  }
  if (!next.empty())
    trantor::EventLoop::getEventLoopOfCurrentThread()->queueInLoop([next = std::move(next)] {
      for (auto* const waiter : next) waiter->resumeNow();
    });
  if (!given.leave) co_return given.released ? Unlocked::kReleased : Unlocked::kLost;
  LineExchange exchange(transport_, std::move(*given.leave));
  const auto reply = co_await exchange;
  if (!reply) co_return Unlocked::kUnknown;
  co_return reply->verdict == LineVerdict::kYes ? Unlocked::kReleased : Unlocked::kLost;
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
  std::vector<Waiter*> dropped;
  decide([&](auto& actions) {
    for (const auto id : client_.dropAll(quits, actions))
      if (const auto node = waiting_.extract(id)) dropped.push_back(node.mapped());
  });
  for (auto* const waiter : dropped) waiter->fail(error());
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

// A grant resumes its waiter, which must not happen inside the client's own callback.
void RedisLine::hear(const std::string& text) {
  around_.timers->queueInLoop([this, message = messageOf(text)] {
    decide([&](auto& actions) { client_.heard(message, SteadyClock::now(), actions); });
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
