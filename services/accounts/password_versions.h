// Which tokens a changed password has ended.
#pragma once

#include "services/accounts/caller.h"
#include "services/time_source.h"

#include <drogon/orm/DbClient.h>
#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

namespace festa {

// The accounts whose password changed while tokens from before the change may still be within their
// time, each with its version. Accounts without an entry have tokens of one version. In memory, so
// a request costs no query; as old as the last readPasswordVersions(), except for the changes that
// this process made itself. Holds at most one entry per account. Thread-safe.
class PasswordVersions {
 public:
  using Clock = std::chrono::steady_clock;

  explicit PasswordVersions(std::chrono::seconds tokenLifetime,
                            const TimeSource& time = kSteadyTime);

  // False: the caller's token was given for an earlier password. A version that is newer than what
  // is known here is right: another process issued it.
  bool isCurrent(const Caller& caller) const;

  // Versions only grow: an older one than is known changes nothing, in whatever order they come.
  void learn(Realm realm, std::int64_t uid, std::int64_t version);
  // Removes the accounts all of whose older tokens have expired by themselves.
  void forgetExpired();

  // How far back changes matter, and some minutes for clocks that differ.
  std::chrono::seconds horizon() const { return horizon_; }
  std::size_t size() const;

 private:
  struct Account {
    Realm realm;
    std::int64_t uid;

    bool operator==(const Account&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Account& account) const;
  };
  struct Known {
    std::int64_t version = 0;
    Clock::time_point until{};  // when no token of an earlier version is left
  };

  const std::chrono::seconds horizon_;
  const TimeSource& time_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Account, Known, Hash> accounts_;  // guarded by mutex_
};

// Rows (realm, id, version) of the accounts whose password changed in the last $1 seconds.
extern const char* const kChangedPasswords;
// The realm as such a row names it.
Realm realmNamed(const std::string& name);

// Reads what changed within the horizon. Throws what the client throws; then `versions` is as
// before.
drogon::Task<> readPasswordVersions(drogon::orm::DbClientPtr client, PasswordVersions& versions);

}  // namespace festa
