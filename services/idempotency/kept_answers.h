// The answers of several requests with an Idempotency-Key, stored by one statement.
#pragma once

#include "services/idempotency/kept_answer.h"
#include "services/write/sql_array.h"
#include "services/write/transaction.h"

namespace festa {

// The keys of the members of a batch as parameters.
struct KeyParameters {
  // nullptr: the member has no key.
  void add(const IdempotencyAttempt* attempt);

  SqlArray realms;
  SqlArray uids;
  SqlArray keys;
  SqlArray owners;
};

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
