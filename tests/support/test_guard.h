// Guards and transaction options whose hold and observer are functions of a test.
#pragma once

#include "services/write/guarded_write.h"
#include "tests/support/kept_forever.h"

#include <functional>
#include <memory>

namespace festa::test {

using Moment = std::function<SteadyTime()>;
inline Moment until(SteadyTime moment) {
  return [moment] { return moment; };
}

struct TestHold : public LockHandle {
  SteadyTime validUntil() const override { return deadline ? deadline() : SteadyTime::max(); }
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above) override {
    return renew(above);
  }
  void leaveToExpire() override {
    if (unknown) unknown();
  }

  Moment deadline;
  std::function<drogon::Task<std::optional<std::int64_t>>(std::int64_t)> renew;
  std::function<void()> unknown;
};

// Passes on to another observer, if there is one.
struct TestWrites : public WriteObserver {
  void poolWaited(std::chrono::steady_clock::duration wait) override {
    if (inner != nullptr) inner->poolWaited(wait);
  }
  bool hasTestPoint() const override { return testPoint != nullptr; }
  drogon::Task<> beforeCommit() override { return testPoint(); }
  void fenceRefused() override {
    if (inner != nullptr) inner->fenceRefused();
  }
  void fenceRenewed() override {
    if (inner != nullptr) inner->fenceRenewed();
  }
  void conflictRepeated() override {
    if (inner != nullptr) inner->conflictRepeated();
  }
  void commitUnknown(Resolution found) override {
    if (inner != nullptr) inner->commitUnknown(found);
  }

  WriteObserver* inner = nullptr;
  std::function<drogon::Task<>()> testPoint;
};

struct TestGuard {
  Guard inside = Guard::kNone;
  std::optional<std::int64_t> fence = {};
  std::string key = {};
  std::chrono::milliseconds lockWait{5000};
  Moment validUntil = {};
  std::function<drogon::Task<std::optional<std::int64_t>>(std::int64_t)> renewFence = {};
  std::function<void()> commitUnknown = {};
  std::function<drogon::Task<>()> beforeCommit = {};
  WriteObserver* observer = nullptr;

  // A new one each time, which lives as long as the test.
  operator WriteGuard&() const {  // NOLINT: stands for one
    auto& guard = keptForever(std::make_unique<WriteGuard>());
    guard.inside = inside;
    guard.fence = fence;
    guard.key = key;
    guard.lockWait = lockWait;
    if (validUntil || renewFence || commitUnknown) {
      auto hold = std::make_unique<TestHold>();
      hold->deadline = validUntil;
      hold->renew = renewFence;
      hold->unknown = commitUnknown;
      guard.hold = &keptForever(std::move(hold));
    }
    if (observer != nullptr || beforeCommit) {
      auto writes = std::make_unique<TestWrites>();
      writes->inner = observer;
      writes->testPoint = beforeCommit;
      guard.observer = &keptForever(std::move(writes));
    }
    return guard;
  }
};

struct TestOptions {
  Moment notAfter = {};
  std::chrono::milliseconds commitTimeout{5000};
  bool explicitCommit = false;
  std::function<drogon::Task<>()> beforeCommit = {};

  operator TransactionOptions() const {  // NOLINT: stands for them
    TestGuard guard;
    guard.validUntil = notAfter;
    guard.beforeCommit = beforeCommit;
    const WriteGuard& lent = guard;
    TransactionOptions options;
    options.deadline = lent.hold;
    options.observer = lent.observer;
    options.commitTimeout = commitTimeout;
    options.explicitCommit = explicitCommit;
    return options;
  }
};

// One client for all loops.
struct TestDatabase : public Database {
  explicit TestDatabase(drogon::orm::DbClientPtr only, WriteSettings writes = {})
      : Database(writes), db(std::move(only)) {}
  drogon::orm::DbClientPtr client() const override { return db; }
  drogon::orm::DbClientPtr batchClient() const override { return db; }

  const drogon::orm::DbClientPtr db;
};

// Batches have a client of their own.
struct TwoClients : public Database {
  TwoClients(drogon::orm::DbClientPtr one, drogon::orm::DbClientPtr other)
      : Database({}), plain(std::move(one)), batch(std::move(other)) {}
  drogon::orm::DbClientPtr client() const override { return plain; }
  drogon::orm::DbClientPtr batchClient() const override { return batch; }

  const drogon::orm::DbClientPtr plain;
  const drogon::orm::DbClientPtr batch;
};

inline const Database& testDatabase(drogon::orm::DbClientPtr db, WriteSettings writes = {}) {
  return keptForever(std::make_unique<TestDatabase>(std::move(db), writes));
}

}  // namespace festa::test
