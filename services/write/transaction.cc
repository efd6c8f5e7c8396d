#include "services/write/transaction.h"

#include "services/error.h"
#include "services/write/db_failure.h"

#include <trantor/net/EventLoop.h>

#include <atomic>
#include <coroutine>

namespace festa {

namespace {

using drogon::orm::TransactionType;
using std::chrono::steady_clock;

enum class CommitOutcome { kCommitted, kRolledBack, kUnknown };

// The first report wins: the callback of COMMIT, the end of the callback without a call (Drogon
// drops it after a rollback), or the timer.
class CommitReport {
 public:
  CommitReport(trantor::EventLoop* loop, std::coroutine_handle<> waiting)
      : loop_(loop), waiting_(waiting) {}

  void report(CommitOutcome outcome) {
    if (reported_.exchange(true)) return;
    outcome_ = outcome;
    loop_->queueInLoop([waiting = waiting_] { waiting.resume(); });
  }

  CommitOutcome outcome() const { return outcome_; }

 private:
  trantor::EventLoop* const loop_;
  const std::coroutine_handle<> waiting_;
  std::atomic<bool> reported_{false};
  CommitOutcome outcome_ = CommitOutcome::kUnknown;  // written before the resumption that reads it
};

// Owned by the commit callback alone.
class CommitCallback {
 public:
  explicit CommitCallback(std::shared_ptr<CommitReport> report) : report_(std::move(report)) {}
  ~CommitCallback() { report_->report(CommitOutcome::kRolledBack); }
  CommitCallback(const CommitCallback&) = delete;
  CommitCallback& operator=(const CommitCallback&) = delete;

  void operator()(bool committed) const {
    report_->report(committed ? CommitOutcome::kCommitted : CommitOutcome::kUnknown);
  }

 private:
  const std::shared_ptr<CommitReport> report_;
};

class CommitAwaiter {
 public:
  CommitAwaiter(std::shared_ptr<Sql> transaction, std::chrono::milliseconds timeout)
      : transaction_(std::move(transaction)), timeout_(timeout) {}
  // GCC 12 would copy some awaited lvalues, and a second pointer to the transaction keeps COMMIT
  // from being sent.
  CommitAwaiter(const CommitAwaiter&) = delete;
  CommitAwaiter& operator=(const CommitAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }

  void await_suspend(std::coroutine_handle<> handle) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    report_ = std::make_shared<CommitReport>(loop, handle);
    auto callback = std::make_shared<CommitCallback>(report_);
    transaction_->setCommitCallback([callback](bool committed) { (*callback)(committed); });
    loop->runAfter(std::chrono::duration<double>(timeout_).count(),
                   [weak = std::weak_ptr(report_)] {
                     if (auto report = weak.lock()) report->report(CommitOutcome::kUnknown);
                   });
    callback.reset();
    transaction_.reset();  // sends COMMIT
  }

  CommitOutcome await_resume() const { return report_->outcome(); }

 private:
  std::shared_ptr<Sql> transaction_;
  const std::chrono::milliseconds timeout_;
  std::shared_ptr<CommitReport> report_;
};

}  // namespace

void requireTimeLeft(const Deadline* deadline) {
  if (deadline != nullptr && steady_clock::now() >= deadline->validUntil())
    throw ServiceError(ErrorCode::kLockLost, "the lease is over");
}

namespace {

drogon::Task<std::shared_ptr<Sql>> open(drogon::orm::DbClientPtr db, TransactionType type,
                                        const TransactionOptions& options) {
  requireTimeLeft(options.deadline);
  std::shared_ptr<Sql> transaction;
  const auto asked = steady_clock::now();
  try {
    transaction = co_await db->newTransactionCoro(type);
  } catch (const drogon::orm::TimeoutError&) {
    // Without a transaction; told below.
  }
  if (options.observer != nullptr) options.observer->poolWaited(steady_clock::now() - asked);
  if (!transaction)
    throw ServiceError(
        db->hasAvailableConnections() ? ErrorCode::kOverloaded : ErrorCode::kDatabaseUnavailable,
        "no database connection came free");
  // Waiting for a connection may have taken long.
  try {
    requireTimeLeft(options.deadline);
  } catch (const ServiceError&) {
    transaction->rollback();
    throw;
  }
  co_return transaction;
}

}  // namespace

drogon::Task<std::shared_ptr<Sql>> beginTransaction(drogon::orm::DbClientPtr db,
                                                    const TransactionOptions& options) {
  co_return co_await open(std::move(db), TransactionType::Deferred, options);
}

drogon::Task<std::shared_ptr<Sql>> takeConnection(drogon::orm::DbClientPtr db,
                                                  const TransactionOptions& options) {
  // Fail at once while the server is away: the caller holds a lock and must not wait with it.
  if (!db->hasAvailableConnections())
    throw ServiceError(ErrorCode::kDatabaseUnavailable, "no connection to the database");
  co_return co_await open(std::move(db), TransactionType::None, options);
}

drogon::Task<> commitTransaction(std::shared_ptr<Sql> transaction,
                                 std::chrono::milliseconds timeout) {
  CommitAwaiter awaiter(std::move(transaction), timeout);
  const auto outcome = co_await awaiter;
  switch (outcome) {
    case CommitOutcome::kCommitted: co_return;
    case CommitOutcome::kRolledBack:
      throw ServiceError(ErrorCode::kDatabaseUnavailable,
                         "the transaction was rolled back before COMMIT");
    case CommitOutcome::kUnknown: throw CommitUnknown();
  }
}

drogon::Task<> commitExplicitly(Sql& transaction) {
  try {
    co_await transaction.execSqlCoro("COMMIT");
  } catch (const drogon::orm::DrogonDbException& error) {
    // Anything but a conflict or a time-out that the server itself reported may hide a COMMIT.
    const auto failure = classify(error);
    const bool isRefused = failure == DbFailure::kConflict || failure == DbFailure::kTimedOut ||
                           failure == DbFailure::kLockTimedOut;
    if (isRefused) throw;
    throw CommitUnknown();
  }
}

}  // namespace festa
