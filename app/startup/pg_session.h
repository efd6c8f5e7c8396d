// A blocking connection to PostgreSQL for threads that may wait: the work before the event loops
// run (migrations, checks, demo data) and the lab's races.
#pragma once

#include "app/config/config.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;
struct pg_result;

namespace festa {

// Not thread-safe. Throws std::runtime_error with the server's message.
class PgSession {
 public:
  using Row = std::vector<std::optional<std::string>>;
  using Patience = std::chrono::milliseconds;
  static constexpr Patience kEndless = Patience::max();

  // Keeps trying for config.connectTimeout: servers of a stack start in any order. A script or
  // statement that is not answered within `patience` fails, and the session with it, whatever the
  // server does: it may be frozen, or wait for a lock.
  explicit PgSession(const Config::Database& config, Patience patience = kEndless);

  // Several statements separated by semicolons; no parameters.
  void run(const std::string& script);
  std::vector<Row> query(const std::string& statement,
                         const std::vector<std::string>& parameters = {});

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  struct Clear {
    void operator()(pg_result* result) const;
  };
  using ResultPtr = std::unique_ptr<pg_result, Clear>;

  // Of what was sent; the last one of a script.
  ResultPtr result();
  void waitForAnswer(std::chrono::steady_clock::time_point sent);

  const Patience patience_;
  std::unique_ptr<pg_conn, Close> connection_;
};

}  // namespace festa
