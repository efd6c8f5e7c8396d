// What a write leaves beside its effect, for whoever asks again.
#pragma once

#include "services/transaction.h"

namespace festa {

// Run with the write's value as the last statements of its transaction: stored if and only if the
// effect is. Throws to call the write off. Empty: nothing is left.
template <class T>
using Receipt = std::function<drogon::Task<>(Sql&, const T&)>;

// What `body(Sql&) -> Task<T>` gives.
template <class Body>
using WrittenBy = std::decay_t<drogon::await_result_t<std::invoke_result_t<Body&, Sql&>>>;

template <class Body>
struct BodyWithReceipt {
  Body& body;
  const Receipt<WrittenBy<Body>>& receipt;

  drogon::Task<WrittenBy<Body>> operator()(Sql& sql) {
    WrittenBy<Body> value = co_await body(sql);
    if (receipt) co_await receipt(sql, value);
    co_return value;
  }
};

// inTransaction without a deadline, for writes that no lock guards.
template <class Body>
drogon::Task<WrittenBy<Body>> plainWrite(drogon::orm::DbClientPtr db,
                                         std::chrono::milliseconds commitTimeout, Body& body,
                                         Receipt<WrittenBy<Body>> receipt = {}) {
  TransactionOptions options;
  options.commitTimeout = commitTimeout;
  BodyWithReceipt<Body> whole{body, receipt};
  co_return co_await inTransaction(db, options, whole);
}

}  // namespace festa
