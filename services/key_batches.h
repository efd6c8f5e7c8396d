// Takes the idempotency keys of several requests in one statement.
#pragma once

#include "services/batches.h"
#include "services/database.h"
#include "services/kept_answer.h"

#include <string>

namespace festa {

// One attempt in a batch. `isTaken` is false when the key is known already, or the statement
// failed: then the request asks alone.
struct KeyMember : BatchMember {
  KeyMember(const IdempotencyAttempt& of, const std::string& print)
      : attempt(of),
        fingerprint(print),
        name(of.realm + ' ' + std::to_string(of.uid) + ' ' + of.key) {}

  const std::string& row() const { return name; }

  const IdempotencyAttempt& attempt;
  const std::string& fingerprint;
  const std::string name;
  bool isTaken = false;
};

// Takes keys that were never used, which most are; for others the caller looks. Thread-safe.
class KeyBatches : public Batches<KeyMember> {
 public:
  // `database` outlives it.
  KeyBatches(const Database& database, BatchLimits limits, std::chrono::milliseconds attemptTime)
      : Batches(limits), database_(database), attemptTime_(attemptTime) {}

  // True: the key is taken, and that is committed. False: the caller must look, nothing is known.
  drogon::Task<bool> take(const IdempotencyAttempt& attempt, const std::string& fingerprint);

 private:
  drogon::Task<> write(std::vector<KeyMember*> batch) override;

  const Database& database_;
  const std::chrono::milliseconds attemptTime_;
};

}  // namespace festa
