#include "services/accounts/password_hasher.h"

#include "services/error.h"
#include "tests/support/kept_forever.h"
#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace festa::test {

namespace {

std::future<std::string> startHash(const Loops& loops, PasswordHasher& hasher) {
  return startOn(loops.at(), [&hasher] { return hasher.hash("a password"); });
}

// Coroutines whose jobs are dropped stay for ever; the hasher refers to them.
PasswordHasher& hasherThatDropsJobs(std::size_t threads, std::size_t maxQueued) {
  return keptForever(std::make_unique<PasswordHasher>(threads, maxQueued));
}

ErrorCode refusalOf(std::future<std::string> hash) {
  try {
    finish(std::move(hash));
  } catch (const ServiceError& error) {
    return error.code();
  }
  ADD_FAILURE() << "hashed";
  return ErrorCode::kInternal;
}

}  // namespace

TEST(PasswordHasher, VerifiesWhatItHashed) {
  const Loops loops;
  PasswordHasher hasher(1, 10);
  const auto hash = finish(startHash(loops, hasher));
  EXPECT_TRUE(runOn(loops.at(), [&] { return hasher.verify(hash, "a password"); }));
  EXPECT_FALSE(runOn(loops.at(), [&] { return hasher.verify(hash, "another one"); }));
}

TEST(PasswordHasher, FullQueueIsOverload) {
  const Loops loops;
  auto& hasher = hasherThatDropsJobs(0, 1);
  const auto queued = startHash(loops, hasher);
  EXPECT_EQ(refusalOf(startHash(loops, hasher)), ErrorCode::kOverloaded);
}

// The loops end after stop(): a thread that still hashed would give its result to a loop that is no
// more.
TEST(PasswordHasher, NoResultArrivesAfterStop) {
  const Loops loops;
  auto& hasher = hasherThatDropsJobs(2, 400);
  std::vector<std::future<std::string>> hashes(300);
  for (auto& hash : hashes) hash = startHash(loops, hasher);
  finish(std::move(hashes[0]));
  hasher.stop();
  const auto arrived = [&] {
    runOn(loops.at(), []() -> drogon::Task<> { co_return; });
    std::size_t count = 0;
    for (const auto& hash : hashes)
      if (hash.valid() && hash.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        ++count;
    return count;
  };
  const auto atStop = arrived();
  EXPECT_LT(atStop, hashes.size() - 1);
  EXPECT_EQ(refusalOf(startHash(loops, hasher)), ErrorCode::kShuttingDown);
  EXPECT_EQ(arrived(), atStop);
}

}  // namespace festa::test
