// Idempotency keys: one effect and one answer, however often a request is sent.
#pragma once

#include "services/idempotency/key_batches.h"
#include "services/write/database.h"

#include <chrono>
#include <optional>
#include <string>

namespace festa {

struct IdempotencySettings {
  // After this time another attempt may take the key of one that still runs.
  std::chrono::milliseconds attemptTime{15000};
  // An attempt whose own statement was lost on its way waits this long for that statement to end.
  std::chrono::milliseconds lostTime{2000};
  std::chrono::seconds keep{std::chrono::hours(24)};
};

// The keys are rows that every instance sees. Thread-safe.
class IdempotencyService {
 public:
  enum class State {
    kTaken,    // the caller may go on; it ends the attempt by keepAnswer() or giveUp()
    kDone,     // with the answer
    kRunning,  // another attempt holds it
    kReused,   // it belongs to another request
  };
  struct Found {
    State state;
    KeptAnswer answer = {};
  };

  // `batches`, if not null, takes keys for several requests at once. All outlive the service.
  IdempotencyService(const Database& database, IdempotencySettings settings,
                     KeyBatches* batches = nullptr)
      : database_(database), settings_(settings), batches_(batches) {}

  // Takes the attempt's key and commits that, or returns why not. An attempt that took its key by a
  // statement whose acknowledgement was lost recognises it. When that statement does not end in
  // time, it throws what the last look met, or ServiceError(kDatabaseUnavailable); the key may then
  // stay taken for the attempt's time.
  drogon::Task<Found> take(IdempotencyAttempt attempt, std::string fingerprint) const;

  // The answer that this very request was given before; nullopt: none. Takes no key.
  drogon::Task<std::optional<KeptAnswer>> find(IdempotencyAttempt attempt,
                                               std::string fingerprint) const;

  // The attempt had no effect: the key is free again. Does not throw; a row that cannot be
  // deleted ends by its time.
  drogon::Task<> giveUp(IdempotencyAttempt attempt) const;

  // Removes keys older than `keep`; how many.
  drogon::Task<std::size_t> sweep() const;

 private:
  // True: the key was free, or its time was over. Throws CommitUnknown.
  drogon::Task<bool> insert(const IdempotencyAttempt& attempt,
                            const std::string& fingerprint) const;
  drogon::Task<Found> takeOrLook(const IdempotencyAttempt& attempt,
                                 const std::string& fingerprint) const;
  // Repeats the look until the statement by which this attempt may have taken its key has ended.
  drogon::Task<Found> findWhatWasLost(const IdempotencyAttempt& attempt,
                                      const std::string& fingerprint) const;
  // Nullopt: another transaction, whose end was not awaited any longer, has the key's row.
  drogon::Task<std::optional<Found>> takeUnlessLocked(const IdempotencyAttempt& attempt,
                                                      const std::string& fingerprint) const;
  // Nullopt: the key is free.
  drogon::Task<std::optional<Found>> look(const IdempotencyAttempt& attempt,
                                          const std::string& fingerprint) const;

  const Database& database_;
  const IdempotencySettings settings_;
  KeyBatches* const batches_;
};

// Stores the answer in the effect's own transaction. Throws ServiceError(kRequestInProgress) when
// another attempt has taken the key over: the effect must be rolled back.
drogon::Task<> keepAnswer(Sql& sql, IdempotencyAttempt attempt, KeptAnswer answer);

}  // namespace festa
