#include "lock/redis/line/line_waiters.h"

namespace festa::lock {

WaiterId LineWaiters::add(Waiting waiting) {
  const auto waiter = ++last_;
  if (waiting.queue) lines_[waiting.key].waiters.push({waiter, waiting.lease, waiting.together});
  waiting_.emplace(waiter, std::move(waiting));
  return waiter;
}

bool LineWaiters::remove(WaiterId waiter) {
  const auto node = waiting_.extract(waiter);
  const auto line = lines_.find(node.mapped().key);
  if (line == lines_.end()) return true;
  line->second.waiters.cancel(waiter);
  if (!line->second.waiters.empty()) return false;
  lines_.erase(line);
  return true;
}

void LineWaiters::clear() {
  waiting_.clear();
  lines_.clear();
}

LineWaiters::Waiting* LineWaiters::find(WaiterId waiter) {
  const auto found = waiting_.find(waiter);
  return found == waiting_.end() ? nullptr : &found->second;
}

LineWaiters::Line* LineWaiters::lineOf(const LockKey& key) {
  const auto line = lines_.find(key);
  return line == lines_.end() ? nullptr : &line->second;
}

std::size_t LineWaiters::inLine(const LockKey& key) const {
  const auto line = lines_.find(key);
  return line == lines_.end() ? 0 : line->second.waiters.size();
}

}  // namespace festa::lock
