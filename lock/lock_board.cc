#include "lock/lock_board.h"

namespace festa::lock {

LockBoard::Entry::Entry(LockBoard& board, std::string lockable, std::string strategy, LockKey key)
    : board_(board) {
  const Kind kind{lockable, strategy};
  row_.push_back({std::move(lockable), std::move(strategy), std::move(key)});
  at_ = row_.begin();
  const std::lock_guard guard(board_.mutex_);
  counts_ = &board_.counts_[kind];
  ++counts_->waiting;
  board_.waiting_.splice(board_.waiting_.end(), row_);
}

void LockBoard::Entry::holds(std::optional<std::int64_t> fence, bool follows) {
  const std::lock_guard guard(board_.mutex_);
  at_->holds = true;
  at_->follows = follows;
  if (follows) ++board_.followers_;
  at_->fence = fence;
  at_->since = SteadyClock::now();
  --counts_->waiting;
  ++counts_->holding;
  board_.holding_.splice(board_.holding_.end(), board_.waiting_, at_);
}

LockBoard::Entry::~Entry() {
  const std::lock_guard guard(board_.mutex_);
  if (at_->follows) --board_.followers_;
  --(at_->holds ? counts_->holding : counts_->waiting);
  row_.splice(row_.end(), at_->holds ? board_.holding_ : board_.waiting_, at_);
}

bool LockBoard::isFull() const {
  const std::lock_guard guard(mutex_);
  return holding_.size() - followers_ >= holdersLimit_;
}

std::map<LockBoard::Kind, LockBoard::Counts> LockBoard::counts() const {
  const std::lock_guard guard(mutex_);
  return counts_;
}

std::vector<LockBoard::Row> LockBoard::rows(std::size_t most) const {
  std::vector<Row> rows;
  const std::lock_guard guard(mutex_);
  for (const auto* list : {&holding_, &waiting_})
    for (const auto& row : *list) {
      if (rows.size() >= most) return rows;
      rows.push_back(row);
    }
  return rows;
}

}  // namespace festa::lock
