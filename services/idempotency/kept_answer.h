// The key of a request that may be repeated, and the answer that repetitions get.
#pragma once

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

}  // namespace festa
