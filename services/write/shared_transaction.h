// A transaction that is written for several requests: its end, the result of each, and the answers
// that are stored for them.
#pragma once

#include "services/error.h"
#include "services/write/receipt.h"

#include <algorithm>
#include <atomic>

namespace festa {

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

// The following are about `members`, pointers to what has a `receipt`, which may be null, and a
// `result`.

template <class Members>
bool haveReceipts(const Members& members) {
  return std::ranges::any_of(members, [](const auto* one) { return one->receipt != nullptr; });
}

template <class Members>
KeyParameters keysOf(const Members& members) {
  KeyParameters keys;
  for (const auto* const one : members)
    keys.add(one->receipt != nullptr ? one->receipt->attempt() : nullptr);
  return keys;
}

// The last statement of the transaction: the answers of those that have a value and a key.
template <class Members>
drogon::Task<> storeAnswers(Sql& sql, const Members& members) {
  KeptAnswers answers;
  for (const auto* const one : members)
    if (one->result.value && one->receipt != nullptr)
      answers.add(*one->receipt->attempt(), one->receipt->answer(*one->result.value));
  co_await answers.store(sql);
}

// Awaits the transaction. Does not throw.
drogon::Task<SharedOutcome> outcomeOf(drogon::Task<> transaction);

}  // namespace festa
