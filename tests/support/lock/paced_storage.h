// A storage that tests can hold up while it extends.
#pragma once

#include "lock/lock_storage.h"
#include "tests/support/loops.h"

#include <atomic>
#include <memory>

namespace festa::test {

// Until the condition is true, or for the patience of tests.
inline drogon::Task<> waitFor(std::function<bool()> condition) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const auto deadline = lock::SteadyClock::now() + kPatience;
  while (!condition() && lock::SteadyClock::now() < deadline)
    co_await drogon::sleepCoro(loop, 0.002);
}

// A storage whose extend() fails, lies or takes as long as the test wants, before its effect or
// after.
class PacedStorage : public lock::LockStorage {
 public:
  explicit PacedStorage(std::shared_ptr<lock::LockStorage> inner) : inner_(std::move(inner)) {}

  drogon::Task<std::optional<lock::Lease>> tryLock(lock::LockRequest request) override {
    return inner_->tryLock(request);
  }

  drogon::Task<bool> extend(lock::Lease& lease, lock::Extension extension) override {
    ++asked;
    if (unlocked) ++askedAfterUnlock;
    if (broken) throw lock::LockStorageUnavailable("away");
    if (saysLost) co_return false;
    const std::function<bool()> effect = [this] { return effectMayHappen.load(); };
    co_await waitFor(effect);
    const bool extended = co_await inner_->extend(lease, extension);
    (extended ? extendedOnes : refusedOnes) += 1;
    const std::function<bool()> answer = [this] { return answerMayCome.load(); };
    co_await waitFor(answer);
    ++answered;
    co_return extended;
  }

  drogon::Task<lock::Unlocked> unlock(lock::Lease lease) override {
    unlocked = true;
    return inner_->unlock(std::move(lease));
  }
  void close() override { inner_->close(); }

  std::atomic<bool> broken{false};
  std::atomic<bool> saysLost{false};
  std::atomic<bool> effectMayHappen{true};
  std::atomic<bool> answerMayCome{true};
  std::atomic<bool> unlocked{false};
  std::atomic<int> asked{0};
  std::atomic<int> askedAfterUnlock{0};
  std::atomic<int> extendedOnes{0};
  std::atomic<int> refusedOnes{0};
  std::atomic<int> answered{0};

 private:
  const std::shared_ptr<lock::LockStorage> inner_;
};

}  // namespace festa::test
