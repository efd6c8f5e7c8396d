// Receipts: what a write stores beside its effect for a request that is sent again, the answer that
// repetitions get. A write that shares its transaction stores its answer with those of the others.
#pragma once

#include "services/write/sql_array.h"
#include "services/write/transaction.h"

#include <cstdint>
#include <string>

namespace festa {

// One attempt's use of an Idempotency-Key. `owner` is unique per attempt.
struct IdempotencyAttempt {
  std::string realm;
  std::int64_t uid = 0;
  std::string key;
  std::string owner;
};

// The answer that every repetition gets.
struct KeptAnswer {
  std::int32_t status = 0;
  std::string body;
  std::string location;  // of the Location header; empty: none
};

// Outlives the write. Services take a pointer: nullptr leaves nothing.
template <class T>
class Receipt {
 public:
  virtual ~Receipt() = default;
  // The last statements of the write's transaction, with its value: stored if and only if the
  // effect is. Throws to call the write off. May run more than once, if the transaction does.
  virtual drogon::Task<> keep(Sql& sql, const T& value) const = 0;

  // The same for writes that share a transaction: whose answer it is, and what keep() would store
  // for it. nullptr: the write must have a transaction of its own.
  virtual const IdempotencyAttempt* attempt() const { return nullptr; }
  virtual KeptAnswer answer(const T&) const { return {}; }
};

// What `body(Sql&) -> Task<T>` gives.
template <class Body>
using WrittenBy = std::decay_t<drogon::await_result_t<std::invoke_result_t<Body&, Sql&>>>;

// A body and, as its last statements, its receipt.
template <class Body>
struct BodyWithReceipt {
  Body& body;
  const Receipt<WrittenBy<Body>>* receipt;  // may be null

  drogon::Task<WrittenBy<Body>> operator()(Sql& sql) {
    WrittenBy<Body> value = co_await body(sql);
    if (receipt != nullptr) co_await receipt->keep(sql, value);
    co_return value;
  }
};

// The keys of the members of a batch as parameters.
struct KeyParameters {
  // nullptr: the member has no key.
  void add(const IdempotencyAttempt* attempt);

  SqlArray realms;
  SqlArray uids;
  SqlArray keys;
  SqlArray owners;
};

// " CROSS JOIN LATERAL (…) k" for a statement about the rows of `members`, an alias with the
// columns realm, owner_uid, key and owner: a row stays if it has no key, or if its key is still its
// own. A key that another transaction has locked is passed over.
std::string ownsKeyJoin(const std::string& members);

class KeptAnswers {
 public:
  void add(const IdempotencyAttempt& attempt, const KeptAnswer& answer);
  // In the transaction of the effects. Throws ServiceError(kRequestInProgress) when a key was
  // taken over: the effects must be rolled back.
  drogon::Task<> store(Sql& sql);

 private:
  KeyParameters keys_;
  SqlArray statuses_;
  SqlArray bodies_;
  SqlArray locations_;
  std::size_t count_ = 0;
};

}  // namespace festa
