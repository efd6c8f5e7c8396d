// Idempotency keys: one effect and one answer, however often a request is sent.
#pragma once

#include "services/database.h"

#include <chrono>
#include <optional>
#include <string>

namespace festa {

// One attempt's hold of a key. `owner` is unique per attempt.
struct IdempotencyClaim {
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

struct IdempotencySettings {
  std::chrono::milliseconds claimTime{
      15000};  // then a claim that is still running may be taken over
  std::chrono::seconds keep{std::chrono::hours(24)};
};

// The keys are rows that every instance sees. Thread-safe.
class IdempotencyService {
 public:
  enum class State {
    kClaimed,  // the caller may go on; it ends the claim by keepAnswer() or giveUp()
    kDone,     // with the answer
    kRunning,  // another attempt holds it
    kReused,   // it belongs to another request
  };
  struct Found {
    State state;
    KeptAnswer answer = {};
  };

  IdempotencyService(const Database& database, IdempotencySettings settings)
      : database_(database), settings_(settings) {}

  // Commits the claim, or says why not.
  drogon::Task<Found> claim(IdempotencyClaim claim, std::string fingerprint) const;

  // The answer that this very request was given before; nullopt: none. Claims nothing.
  drogon::Task<std::optional<KeptAnswer>> find(IdempotencyClaim claim,
                                               std::string fingerprint) const;

  // The attempt had no effect: the key is free again. Does not throw; a claim that cannot be
  // deleted ends by its time.
  drogon::Task<> giveUp(IdempotencyClaim claim) const;

  // Removes keys older than `keep`; how many.
  drogon::Task<std::size_t> sweep() const;

 private:
  drogon::Task<Found> claimOrLook(const IdempotencyClaim& claim,
                                  const std::string& fingerprint) const;
  // Nullopt: nobody has the key.
  drogon::Task<std::optional<Found>> look(const IdempotencyClaim& claim,
                                          const std::string& fingerprint) const;

  const Database& database_;
  const IdempotencySettings settings_;
};

// Stores the answer in the effect's own transaction. Throws ServiceError(kRequestInProgress) when
// the claim was taken over: the effect must be rolled back.
drogon::Task<> keepAnswer(Sql& sql, IdempotencyClaim claim, KeptAnswer answer);

}  // namespace festa
