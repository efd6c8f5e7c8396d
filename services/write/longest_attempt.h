// What the time-outs of one attempt of a guarded write can add up to.
#pragma once

#include <chrono>
#include <cstdint>

namespace festa {

// Statements of the longest attempt besides BEGIN, for which PostgreSQL waits for nothing, and
// COMMIT: the fence, a look at the stored one, the fence again with a renewed token, three
// statements of a question or an event date, the answer for an Idempotency-Key. A sale and a grant
// have two, the statement and the answer, shared or alone.
// tests/services/write/longest_attempt_test.cc counts them.
constexpr std::int64_t kLongestAttemptStatements = 7;

// An attempt waits once for a connection, sends its statements and commits. A lease must outlast
// that. What may come after an attempt is not counted, and is begun only while the lease lasts: an
// attempt alone after a shared one, a shared one that is sent again, a repetition after a conflict,
// the look at an unknown COMMIT. Neither is a shared attempt's wait for the batches before it: one
// whose lease is over by then is not sent.
constexpr std::chrono::milliseconds longestAttempt(std::chrono::milliseconds poolTimeout,
                                                   std::chrono::milliseconds statementTimeout,
                                                   std::chrono::milliseconds commitTimeout) {
  return poolTimeout + kLongestAttemptStatements * statementTimeout + commitTimeout;
}

}  // namespace festa
