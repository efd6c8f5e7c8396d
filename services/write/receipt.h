// Receipts: what a write stores beside its effect, for a request that is sent again.
#pragma once

#include "services/idempotency/kept_answer.h"
#include "services/write/transaction.h"

namespace festa {

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

// inTransaction without a deadline, for writes that no lock guards.
template <class Body>
drogon::Task<WrittenBy<Body>> plainWrite(drogon::orm::DbClientPtr db,
                                         std::chrono::milliseconds commitTimeout, Body& body,
                                         const Receipt<WrittenBy<Body>>* receipt = nullptr) {
  TransactionOptions options;
  options.commitTimeout = commitTimeout;
  BodyWithReceipt<Body> whole{body, receipt};
  co_return co_await inTransaction(db, options, whole);
}

}  // namespace festa
