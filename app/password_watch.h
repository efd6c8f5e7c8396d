// Keeps a process's view of changed passwords up to date.
#pragma once

#include "app/database_clients.h"
#include "app/regular_work.h"
#include "services/accounts/password_versions.h"

namespace festa {

// Reads the changes regularly (once a second), so that another process's change is known here
// within two seconds. While the database cannot be read, tokens are judged by what was known last:
// readiness tells operators, and requests that need the database fail anyway.
class PasswordWatch : public RegularWork {
 public:
  // Both outlive stop().
  PasswordWatch(const DatabaseClients& database, PasswordVersions& versions,
                std::chrono::milliseconds every)
      : RegularWork(every), database_(database), versions_(versions) {}

 private:
  drogon::Task<> work() override;
  void failed(const std::string& why) override;
  void recovered() override;

  const DatabaseClients& database_;
  PasswordVersions& versions_;
};

}  // namespace festa
