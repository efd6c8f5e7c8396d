#include "lock/company.h"

#include "lock/lock_hold.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace festa::lock {

// Refers to the company instead of being part of it: GCC 12 copies an awaited lvalue.
class Company::Meeting {
 public:
  Meeting(Company& company, std::size_t ordinal, void* work, LockHold* hold)
      : company_(company), ordinal_(ordinal), work_(work), hold_(hold) {}

  bool await_ready() const noexcept { return false; }
  // False: this one leads.
  bool await_suspend(std::coroutine_handle<> handle) const {
    const std::lock_guard guard(company_.mutex_);
    auto& mine = company_.members_[ordinal_];
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    mine = {State::kGathered, work_, hold_, loop, handle};
    if (!company_.isComplete()) return true;
    mine.handle = nullptr;
    company_.leader_ = ordinal_;
    return false;
  }
  void await_resume() const noexcept {}

 private:
  Company& company_;
  const std::size_t ordinal_;
  void* const work_;
  LockHold* const hold_;
};

drogon::Task<std::vector<void*>> Company::gather(std::size_t ordinal, void* work, LockHold* hold) {
  Meeting meeting(*this, ordinal, work, hold);
  co_await meeting;
  co_return worksFor(ordinal);
}

void Company::leave(std::size_t ordinal) {
  const std::lock_guard guard(mutex_);
  auto& member = members_[ordinal];
  // A member in kGathered without a handle was the leader or was resumed: release the followers.
  if (member.state == State::kGathered && !member.handle) resumeAll();
  if (member.state != State::kExpected) return;
  member.state = State::kLeft;
  if (!isComplete()) return;
  const auto first = std::ranges::find(members_, State::kGathered, &Member::state);
  if (first == members_.end()) return;
  leader_ = static_cast<std::size_t>(first - members_.begin());
  first->loop->queueInLoop([handle = std::exchange(first->handle, nullptr)] { handle.resume(); });
}

bool Company::isComplete() const {
  return std::ranges::find(members_, State::kExpected, &Member::state) == members_.end();
}

std::vector<void*> Company::worksFor(std::size_t ordinal) const {
  const std::lock_guard guard(mutex_);
  std::vector<void*> works;
  if (leader_ != ordinal) return works;
  for (const auto& member : members_)
    if (member.state == State::kGathered) works.push_back(member.work);
  return works;
}

// Without the mutex: a storage grants to the next holders at once.
void Company::finishOthers(std::size_t leader) {
  std::vector<LockHold*> others;
  {
    const std::lock_guard guard(mutex_);
    for (std::size_t ordinal = 0; ordinal < members_.size(); ++ordinal) {
      const auto& member = members_[ordinal];
      if (ordinal != leader && member.state == State::kGathered && member.hold != nullptr)
        others.push_back(member.hold);
    }
  }
  for (auto* const other : others) other->finish();
}

void Company::dismiss() {
  const std::lock_guard guard(mutex_);
  resumeAll();
}

void Company::resumeAll() {
  std::unordered_map<trantor::EventLoop*, std::vector<std::coroutine_handle<>>> waiting;
  for (auto& member : members_)
    if (member.handle) waiting[member.loop].push_back(std::exchange(member.handle, nullptr));
  for (auto& [loop, handles] : waiting)
    loop->queueInLoop([loop = loop, handles = std::move(handles)]() mutable {
      loop->queueInLoop([handles = std::move(handles)] {
        for (const auto handle : handles) handle.resume();
      });
    });
}

}  // namespace festa::lock
