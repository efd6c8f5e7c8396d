#include "lock/company.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace festa::lock {

// Refers to the company instead of being part of it: GCC 12 copies an awaited lvalue.
class Company::Meeting {
 public:
  Meeting(Company& company, std::size_t ordinal, Part& part)
      : company_(company), ordinal_(ordinal), part_(part) {}

  bool await_ready() const noexcept { return false; }
  // False: this one leads.
  bool await_suspend(std::coroutine_handle<> handle) const {
    const std::lock_guard guard(company_.mutex_);
    auto& mine = company_.members_[ordinal_];
    mine = {State::kGathered, &part_, trantor::EventLoop::getEventLoopOfCurrentThread(), handle};
    if (!company_.isComplete()) return true;
    mine.handle = nullptr;
    company_.leader_ = ordinal_;
    return false;
  }
  void await_resume() const noexcept {}

 private:
  Company& company_;
  const std::size_t ordinal_;
  Part& part_;
};

drogon::Task<std::vector<Company::Part*>> Company::gather(std::size_t ordinal, Part& part) {
  Meeting meeting(*this, ordinal, part);
  co_await meeting;
  co_return partsFor(ordinal);
}

void Company::leave(std::size_t ordinal) {
  const std::lock_guard guard(mutex_);
  auto& member = members_[ordinal];
  // One that has come and does not wait has led, or was dismissed: the others wait for it no more.
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

std::vector<Company::Part*> Company::partsFor(std::size_t ordinal) const {
  const std::lock_guard guard(mutex_);
  std::vector<Part*> parts;
  if (leader_ != ordinal) return parts;
  for (const auto& member : members_)
    if (member.state == State::kGathered) parts.push_back(member.part);
  return parts;
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
