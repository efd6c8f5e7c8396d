#include "services/accounts/password_versions.h"

#include <mutex>

namespace festa {

namespace {

constexpr std::chrono::minutes kClocksDiffer{10};

}  // namespace

const char* const kChangedPasswords =
    "SELECT 'council', id, password_version FROM councils"
    " WHERE password_changed_at > now() - $1::bigint * interval '1 second' UNION ALL"
    " SELECT 'user', id, password_version FROM users"
    " WHERE password_changed_at > now() - $1::bigint * interval '1 second'";

Realm realmNamed(const std::string& name) {
  return name == "council" ? Realm::kCouncil : Realm::kUser;
}

std::size_t PasswordVersions::Hash::operator()(const Account& account) const {
  const auto number = static_cast<std::uint64_t>(account.uid) << 1;
  return std::hash<std::uint64_t>()(number | (account.realm == Realm::kCouncil ? 1U : 0U));
}

PasswordVersions::PasswordVersions(std::chrono::seconds tokenLifetime, const TimeSource& time)
    : horizon_(tokenLifetime + kClocksDiffer), time_(time) {}

bool PasswordVersions::isCurrent(const Caller& caller) const {
  const std::shared_lock guard(mutex_);
  const auto found = accounts_.find({caller.realm, caller.uid});
  return found == accounts_.end() || caller.passwordVersion >= found->second.version;
}

void PasswordVersions::learn(Realm realm, std::int64_t uid, std::int64_t version) {
  const std::unique_lock guard(mutex_);
  auto& known = accounts_[{realm, uid}];
  if (version > known.version) known = {version, time_.now() + horizon_};
}

void PasswordVersions::forgetExpired() {
  const std::unique_lock guard(mutex_);
  std::erase_if(accounts_,
                [now = time_.now()](const auto& entry) { return entry.second.until <= now; });
}

std::size_t PasswordVersions::size() const {
  const std::shared_lock guard(mutex_);
  return accounts_.size();
}

drogon::Task<> readPasswordVersions(drogon::orm::DbClientPtr client, PasswordVersions& versions) {
  const std::int64_t seconds = versions.horizon().count();
  const auto rows = co_await client->execSqlCoro(kChangedPasswords, seconds);
  for (const auto& row : rows)
    versions.learn(realmNamed(row[0].as<std::string>()), row[1].as<std::int64_t>(),
                   row[2].as<std::int64_t>());
  versions.forgetExpired();
}

}  // namespace festa
