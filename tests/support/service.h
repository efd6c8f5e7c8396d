// The real binary, started against a database of its own.
#pragma once

#include "app/pg_session.h"
#include "tests/support/http.h"
#include "tests/support/pg_server.h"
#include "tests/support/process.h"

#include <map>
#include <memory>
#include <string>

namespace festa::test {

// Started by the constructor, stopped by the destructor with SIGTERM. A test fails if its service
// ended with another status than 0, whenever that was and whoever stopped it; only kill() is
// excepted. Settings are FESTA_… variables without the prefix.
class Service {
 public:
  using Settings = std::map<std::string, std::string>;

  // Demo data, short drain. Throws when it is not ready in time.
  explicit Service(const Config::Database& database, const Settings& settings = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  int port() const { return port_; }
  Process& process() { return *process_; }
  const Config::Database& database() const { return database_; }
  std::string log() const;
  std::string errors() const;  // the last lines of the log with level error

  HttpClient client() const { return HttpClient(port_); }
  // The text of /metrics, rendered after this call: what has happened until then is in it. Takes up
  // to a second.
  std::string metrics() const;
  // How many requests of this instance are "holding" or "waiting" for a lock at this moment.
  int locked(const std::string& state) const;
  // `Authorization` of a demo account: admin, council1 or council2.
  Headers as(const std::string& account) const;
  // A new festival with a council of its own; its header.
  Headers newFestival();
  std::vector<Headers> newFestivals(int count);
  std::int64_t lastFestival() const { return lastFestival_; }
  void stop();  // SIGTERM, waits for the end; throws unless it ends with status 0
  void kill();  // SIGKILL, waits for the end

 private:
  const Config::Database database_;
  const int port_;
  std::string logFile_;
  std::unique_ptr<Process> process_;
  bool wasKilled_ = false;
  std::int64_t lastFestival_ = 0;
};

// Starts the binary and returns what it said; for starts that must fail. -1: it did not end.
struct StartResult {
  int status;
  std::string output;
};
StartResult tryStart(const Config::Database& database, const Service::Settings& settings,
                     const std::string& config = "");

std::map<std::string, std::string> serviceEnvironment(const Config::Database& database, int port,
                                                      const Service::Settings& settings);

}  // namespace festa::test
