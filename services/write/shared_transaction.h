// A transaction that is written for several requests: its hold, its end, and the result of each.
#pragma once

#include "services/error.h"
#include "services/write/hold.h"
#include "services/write/transaction.h"

#include <atomic>

namespace festa {

// The hold of a transaction that is written for several: it has an end, and each member settles its
// own fence and COMMIT.
class SharedHold : public Hold {
 public:
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t) override {
    co_return std::nullopt;
  }
  void leaveToExpire() override {}
};

// How many transactions were written for how many requests. Thread-safe.
class SharedCounts {
 public:
  void add(std::size_t members) {
    ++transactions_;
    members_ += members;
  }
  std::uint64_t transactions() const { return transactions_; }
  std::uint64_t members() const { return members_; }

 private:
  std::atomic<std::uint64_t> transactions_{0};
  std::atomic<std::uint64_t> members_{0};
};

// How a shared transaction ended.
struct SharedOutcome {
  bool isCommitted = false;
  bool isUnknown = false;           // its acknowledgement was lost
  bool isConflict = false;          // nothing is stored; sent again, it may succeed
  std::exception_ptr failure = {};  // nothing is stored, and a member alone would fare no better
  // None of them: nothing is stored, and each member tries alone.
};

// What a shared transaction is for one of its members: at most one of these. None: the transaction
// did not touch the member's row and has stored nothing for it.
template <class T>
struct SharedResult {
  std::optional<T> value = {};      // committed
  bool isUnknown = false;           // the acknowledgement was lost
  std::exception_ptr failure = {};  // nothing is stored

  // Of a transaction that is committed: the member is granted or refused, and does not try alone.
  bool isSettled() const { return value || failure; }
  // The transaction did not commit.
  void fail(const SharedOutcome& end) { *this = {{}, end.isUnknown, end.failure}; }
  void refuse(const ServiceError& why) { failure = std::make_exception_ptr(why); }
  // Throws CommitUnknown, or the failure.
  std::optional<T> take() {
    if (failure) std::rethrow_exception(failure);
    if (isUnknown) throw CommitUnknown();
    return std::move(value);
  }
};

// Awaits the transaction. Does not throw.
drogon::Task<SharedOutcome> outcomeOf(drogon::Task<> transaction);

}  // namespace festa
