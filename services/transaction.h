// Database transactions whose COMMIT is waited for. The only place that opens one: Drogon commits
// from the destructor of the transaction object, also when an exception unwinds, and tells nobody.
#pragma once

#include <drogon/orm/DbClient.h>
#include <drogon/utils/coroutine.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace festa {

using Sql = drogon::orm::Transaction;
using SteadyTime = std::chrono::steady_clock::time_point;

// Asked anew each time it matters: a lease that is renewed ends later, a lost one has ended.
using Deadline = std::function<SteadyTime()>;
inline Deadline until(SteadyTime moment) {
  return [moment] { return moment; };
}

struct TransactionOptions {
  Deadline notAfter = until(SteadyTime::max());  // neither BEGIN nor COMMIT is sent later than this
  std::chrono::milliseconds commitTimeout{
      1000};  // without an acknowledgement by then, the outcome is unknown
  // COMMIT as a statement of its own: an error tells why it was refused, at the cost of a second
  // COMMIT that Drogon sends behind it. For SERIALIZABLE, whose conflicts may show only then.
  bool explicitCommit = false;
  std::function<drogon::Task<>()> beforeCommit = {};  // faults in the lab and in tests; may throw
  // Told how long it took to get a connection, or to give up; must not throw.
  std::function<void(std::chrono::steady_clock::duration)> poolWaited = {};
};

// COMMIT was sent and refused, or its acknowledgement did not come: the effects may or may not be
// stored.
class CommitUnknown : public std::runtime_error {
 public:
  CommitUnknown() : std::runtime_error("COMMIT was not acknowledged") {}
};

// The parts of inTransaction that do not depend on the body's type.
// Throws ServiceError (kLockLost past the deadline, kDatabaseUnavailable, kOverloaded when all
// connections are busy).
drogon::Task<std::shared_ptr<Sql>> beginTransaction(drogon::orm::DbClientPtr db,
                                                    const TransactionOptions& options);
// The same without BEGIN: a connection of its own for a statement that commits by itself. It goes
// back to the pool with the last pointer. Of the options, notAfter and poolWaited count.
drogon::Task<std::shared_ptr<Sql>> takeConnection(drogon::orm::DbClientPtr db,
                                                  const TransactionOptions& options);
// Throws ServiceError(kLockLost) when the deadline has passed.
void requireTimeLeft(const Deadline& notAfter);
// Gives up the only pointer to the transaction and resumes on the same loop when COMMIT's outcome
// is known, or the time-out has passed. Throws CommitUnknown; ServiceError(kDatabaseUnavailable)
// when it was rolled back instead.
drogon::Task<> commitTransaction(std::shared_ptr<Sql> transaction,
                                 std::chrono::milliseconds timeout);

// Throws CommitUnknown, or the database's error when that says for certain that nothing happened.
drogon::Task<> commitExplicitly(Sql& transaction);

// BEGIN, body, COMMIT, acknowledgement. `body(Sql&)` returns Task<T>, T not void, and must not keep
// the reference. Returns the body's value only after PostgreSQL has acknowledged COMMIT. Whatever
// the body throws is rethrown after a ROLLBACK has been sent: nothing of it is stored. Awaited on
// an event loop's thread.
template <class Body>
std::invoke_result_t<Body&, Sql&> inTransaction(drogon::orm::DbClientPtr db,
                                                TransactionOptions options, Body& body) {
  using Result = std::decay_t<drogon::await_result_t<std::invoke_result_t<Body&, Sql&>>>;
  auto transaction = co_await beginTransaction(db, options);
  std::optional<Result> result;
  std::exception_ptr failure;
  try {
    result = co_await body(*transaction);
    if (options.beforeCommit) co_await options.beforeCommit();
    requireTimeLeft(options.notAfter);
    if (options.explicitCommit) co_await commitExplicitly(*transaction);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    transaction->rollback();
    transaction.reset();
    std::rethrow_exception(failure);
  }
  if (!options.explicitCommit)
    co_await commitTransaction(std::move(transaction), options.commitTimeout);
  co_return std::move(*result);
}

}  // namespace festa
