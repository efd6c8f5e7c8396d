// The real binary, started against a database of its own.
#pragma once

#include "app/startup/pg_session.h"
#include "tests/support/http/http.h"
#include "tests/support/servers/pg_server.h"
#include "tests/support/servers/server.h"

#include <map>
#include <string>

namespace festa::test {

// Started by the constructor, stopped by the destructor with SIGTERM. A test fails if its service
// ends with another status than 0, at any time and for any reason but kill(); on the ASan build
// also if it has lost memory when it is stopped by this class. Settings are FESTA_… variables
// without the prefix.
class Service {
 public:
  using Settings = std::map<std::string, std::string>;

  // Demo data, short drain. Throws when it is not ready in time.
  explicit Service(const Config::Database& database, const Settings& settings = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  int port() const { return server_.port(); }
  Process& process() { return server_.process(); }
  const Config::Database& database() const { return database_; }
  std::string log() const { return server_.log(); }
  std::string errors() const;  // the last lines of the log with level error

  HttpClient client() const { return HttpClient(port()); }
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
  void tellToStop();  // SIGTERM
  void stop();        // SIGTERM, waits for the end; throws unless it ends with status 0
  void kill();        // SIGKILL, waits for the end

 private:
  void expectNoLeaks();

  const Config::Database database_;
  Server server_;
  bool wasKilled_ = false;
  std::int64_t lastFestival_ = 0;
};

// For tests of other things than time-outs: a transaction may stand idle for 8 s, and no statement
// is refused because the machine is busy. What `settings` say themselves stays; longer time-outs
// need a longer lease. With such leases redis-fair grants nothing ahead to another process
// (lock/redis/line/line_limits.h): tests of several instances that need it have production's.
Service::Settings patient(Service::Settings settings = {},
                          std::chrono::seconds lease = std::chrono::seconds(40));

// For several instances on one Redis: the longest leases for which redis-fair grants the key ahead
// to another process, and time-outs as long as they allow: 1300 + 7 × 220 + 1400 ms are less than
// the 4323 that a holder has. What `settings` say themselves stays.
Service::Settings ofSeveral(Service::Settings settings = {});

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
