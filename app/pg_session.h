// A blocking connection to PostgreSQL for the work before the event loops run: migrations, checks,
// demo data.
#pragma once

#include "app/config.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;

namespace festa {

// Not thread-safe. Throws std::runtime_error with the server's message.
class PgSession {
 public:
  using Row = std::vector<std::optional<std::string>>;

  // Keeps trying for config.connectTimeout: servers of a stack start in any order.
  explicit PgSession(const Config::Database& config);

  // Several statements separated by semicolons; no parameters.
  void run(const std::string& script);
  std::vector<Row> query(const std::string& statement,
                         const std::vector<std::string>& parameters = {});

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };

  std::unique_ptr<pg_conn, Close> connection_;
};

}  // namespace festa
