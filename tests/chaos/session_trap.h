// Sessions that end after their rows were sent and before their commit: the rows are no
// acknowledgement.
#pragma once

#include "tests/support/loops.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace festa::test {

// A write, and how a client hears of it.
struct TrappedWrite {
  std::string event;     // such as "INSERT ON reservations"
  std::string isStored;  // in SQL, behind SELECT
  int success;
  // A fence tells that nothing was stored; without one the outcome is unknown.
  std::string refusal = "DATABASE_UNAVAILABLE";
};

// A deferred trigger ends the session that writes: the rows of the statement have been sent by
// then, its commit has only begun. Not thread-safe.
class SessionTrap {
 public:
  explicit SessionTrap(const Config::Database& database) : admin_(database) {
    admin_.run(
        "CREATE SEQUENCE traps;"
        "CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF nextval('traps') <= TG_ARGV[0]::int THEN"
        " PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$");
  }

  // The first `times` rows of this kind, and of those that are armed already, end their sessions.
  void arm(const std::string& event, int times = 1000, const std::string& when = "true") {
    tables_.push_back(event.substr(event.rfind(' ') + 1));
    admin_.run("SELECT setval('traps', 1, false); CREATE CONSTRAINT TRIGGER trap AFTER " + event +
               " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (" + when +
               ") EXECUTE FUNCTION end_session(" + std::to_string(times) + ")");
  }
  void disarm() {
    for (const auto& table : tables_) admin_.run("DROP TRIGGER trap ON " + table);
    tables_.clear();
  }
  // How many such rows were written since arm(), ended or not.
  std::int64_t caught() {
    return std::stoll(
        *admin_.query("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM traps")[0][0]);
  }
  bool isTrue(const std::string& condition) {
    return admin_.query("SELECT " + condition)[0][0] == "t";
  }

  // While all sessions of such a write end, it is refused and nothing is stored. Then it succeeds.
  void expectHonest(const TrappedWrite& kind, const std::function<Response()>& write) {
    ASSERT_FALSE(isTrue(kind.isStored)) << "before it was written";
    arm(kind.event);
    // A connection may still be missing that an earlier trap has ended.
    Response refused;
    eventually([&] {
      refused = write();
      return caught() > 0 || refused.status != 503;
    });
    EXPECT_EQ(refused.code(), kind.refusal) << refused.status << refused.body;
    EXPECT_GT(caught(), 0) << "no session was ended";
    EXPECT_FALSE(isTrue(kind.isStored));
    disarm();
    Response accepted;
    ASSERT_TRUE(eventually([&] {
      accepted = write();
      return accepted.status != 503;
    }));
    EXPECT_EQ(accepted.status, kind.success) << accepted.body;
    EXPECT_TRUE(isTrue(kind.isStored));
  }

 private:
  PgSession admin_;
  std::vector<std::string> tables_;  // that are armed
};

}  // namespace festa::test
