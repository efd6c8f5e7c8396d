// Database transactions whose COMMIT is waited for. The only place that opens one: Drogon commits
// from the destructor of the transaction object, also when an exception unwinds, and does not
// report the outcome.
#pragma once

#include "services/write/db_failure.h"
#include "services/write/write_context.h"

#include <drogon/orm/DbClient.h>
#include <drogon/utils/coroutine.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace festa {

using Sql = drogon::orm::Transaction;
using SqlClient = drogon::orm::DbClient;  // a transaction is one, too

struct TransactionOptions {
  const Deadline* deadline = nullptr;  // neither BEGIN nor COMMIT is sent after it; may be null
  WriteObserver* observer = nullptr;   // may be null
  // Without an acknowledgement by then, the outcome is unknown.
  std::chrono::milliseconds commitTimeout{1000};
  // COMMIT as a statement of its own: an error tells why it was refused, at the cost of a second
  // COMMIT that Drogon sends behind it. For SERIALIZABLE, whose conflicts may show only then.
  bool explicitCommit = false;
};

// COMMIT was sent and refused, or its acknowledgement did not come: the effects may or may not be
// stored.
class CommitUnknown : public std::runtime_error {
 public:
  CommitUnknown() : std::runtime_error("COMMIT was not acknowledged") {}
};

// The parts of inTransaction that do not depend on the body's type.
// Throws ServiceError (kLockLost past the deadline, kDatabaseUnavailable, kOverloaded when
// all connections are busy).
drogon::Task<std::shared_ptr<Sql>> beginTransaction(drogon::orm::DbClientPtr db,
                                                    const TransactionOptions& options);
// The same without BEGIN: a connection of its own for a statement that commits by itself. It goes
// back to the pool with the last pointer. Of the options, deadline and observer count.
drogon::Task<std::shared_ptr<Sql>> takeConnection(drogon::orm::DbClientPtr db,
                                                  const TransactionOptions& options);
// Awaits a statement that commits by itself: its result is the acknowledgement of its commit,
// because Drogon delivers it when PostgreSQL is ready for the next query. Throws CommitUnknown when
// the result was lost, and the database's error when that says for certain that nothing happened.
template <class T>
drogon::Task<T> acknowledged(drogon::Task<T> statement) {
  try {
    co_return co_await statement;
  } catch (const drogon::orm::DrogonDbException& error) {
    if (isUndone(error)) throw;
  }
  throw CommitUnknown();
}
// Throws ServiceError(kLockLost) past the deadline, which may be null.
void requireTimeLeft(const Deadline* deadline);
// Gives up the only pointer to the transaction and resumes on the same loop when COMMIT's outcome
// is known, or the time-out has passed. Throws CommitUnknown; ServiceError(kDatabaseUnavailable)
// when it was rolled back instead.
drogon::Task<> commitTransaction(std::shared_ptr<Sql> transaction,
                                 std::chrono::milliseconds timeout);

// Throws CommitUnknown, or the database's error when that says for certain that nothing happened.
drogon::Task<> commitExplicitly(Sql& transaction);

// Runs `statement(Sql&) -> Task<T>`, a statement that commits by itself, on a connection that is
// free and before the deadline. Throws what takeConnection() and acknowledged() throw.
template <class Statement>
std::invoke_result_t<Statement&, Sql&> committedByItself(drogon::orm::DbClientPtr db,
                                                         TransactionOptions options,
                                                         Statement& statement) {
  if (auto* const point = testPointOf(options.observer)) co_await point->beforeCommit();
  const auto connection = co_await takeConnection(db, options);
  co_return co_await acknowledged(statement(*connection));
}

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
    if (auto* const point = testPointOf(options.observer)) co_await point->beforeCommit();
    requireTimeLeft(options.deadline);
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
