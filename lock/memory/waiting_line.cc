#include "lock/memory/waiting_line.h"

namespace festa::lock {

void WaitingLine::pop() {
  slots_.pop_front();
  dropCancelledAtTheHead();
}

bool WaitingLine::cancel(WaiterId waiter) {
  const auto idOf = [](const Slot& slot) { return slot.place.waiter; };
  const auto found = std::ranges::lower_bound(slots_, waiter, {}, idOf);
  if (found == slots_.end() || idOf(*found) != waiter || found->isCancelled) return false;
  // Slots in the middle stay until they are many: to erase one would move those behind it.
  found->isCancelled = true;
  ++cancelled_;
  dropCancelledAtTheHead();
  if (cancelled_ > slots_.size() / 2) {
    std::erase_if(slots_, [](const Slot& slot) { return slot.isCancelled; });
    cancelled_ = 0;
  }
  return true;
}

void WaitingLine::clear() {
  slots_.clear();
  cancelled_ = 0;
}

void WaitingLine::dropCancelledAtTheHead() {
  while (!slots_.empty() && slots_.front().isCancelled) {
    slots_.pop_front();
    --cancelled_;
  }
}

}  // namespace festa::lock
