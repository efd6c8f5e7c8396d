// Takes the idempotency keys of several requests in one statement.
#pragma once

#include "services/write/batches.h"
#include "services/write/database.h"

#include <string>

namespace festa {

enum class KeyTaken {
  kYes,      // and that is committed
  kNo,       // the key is known already, or the statement failed: the request asks alone
  kUnknown,  // the acknowledgement was lost: the statement may have taken it, or still be doing so
};

// One attempt in a batch.
struct KeyMember : BatchMember {
  KeyMember(const IdempotencyAttempt& of, const std::string& print)
      : attempt(of),
        fingerprint(print),
        name(of.realm + ' ' + std::to_string(of.uid) + ' ' + of.key) {}

  const std::string& row() const { return name; }

  const IdempotencyAttempt& attempt;
  const std::string& fingerprint;
  const std::string name;
  KeyTaken taken = KeyTaken::kNo;
};

// Takes keys that were never used, which most are; for others the caller looks. Thread-safe.
class KeyBatches : public Batches<KeyMember> {
 public:
  // `database` outlives it.
  KeyBatches(const Database& database, BatchLimits limits, std::chrono::milliseconds attemptTime)
      : Batches(limits), database_(database), attemptTime_(attemptTime) {}

  drogon::Task<KeyTaken> take(const IdempotencyAttempt& attempt, const std::string& fingerprint);

 private:
  drogon::Task<> write(std::vector<KeyMember*> batch) override;

  const Database& database_;
  const std::chrono::milliseconds attemptTime_;
};

}  // namespace festa
