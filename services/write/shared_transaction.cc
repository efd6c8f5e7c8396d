#include "services/write/shared_transaction.h"

#include "services/error.h"
#include "services/write/db_failure.h"

#include <trantor/utils/Logger.h>

namespace festa {

drogon::Task<SharedOutcome> outcomeOf(drogon::Task<> transaction) {
  SharedOutcome outcome;
  try {
    co_await transaction;
    outcome.isCommitted = true;
  } catch (const CommitUnknown&) {
    outcome.isUnknown = true;
  } catch (const ServiceError& error) {
    // The lease of one member is over, or its key was taken over: that concerns this member alone.
    const bool concernsOne =
        error.code() == ErrorCode::kLockLost || error.code() == ErrorCode::kRequestInProgress;
    if (!concernsOne) outcome.failure = std::current_exception();
  } catch (const drogon::orm::DrogonDbException& error) {
    const auto kind = classify(error);
    outcome.isConflict = kind == DbFailure::kConflict;
    if (kind == DbFailure::kUnavailable || kind == DbFailure::kOverloaded)
      outcome.failure = std::current_exception();
    else
      LOG_INFO << "a shared transaction failed, its members try alone: " << error.base().what();
  } catch (...) {
    outcome.failure = std::current_exception();
  }
  co_return outcome;
}

}  // namespace festa
