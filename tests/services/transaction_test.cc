#include "services/announcement_service.h"
#include "tests/support/loops.h"
#include "tests/support/pg_server.h"

#include <trantor/utils/Logger.h>
#include <gtest/gtest.h>

namespace festa::test {
TEST(X, Y) {
  trantor::Logger::setLogLevel(trantor::Logger::kTrace);
  Loops loops;
  auto cfg = sharedPg().createDatabase();
  PgSession s(cfg);
  s.run("INSERT INTO festivals (university_name, festival_name, start_date, end_date) values ('a','b',now(),now()); ALTER TABLE announcements DROP CONSTRAINT announcements_guarded");
  auto db = drogon::orm::DbClient::newPgClient(PgServer::connectionInfo(cfg), 4);
  db->setTimeout(1.0);
  Database d; d.client = [db] { return db; };
  AnnouncementService service(d);
  NewAnnouncement n{"a", "b", true};
  WriteGuard g;
  auto make = [&] { return service.create(1, n, g); };
  auto a = runOn(loops.at(), make); std::cerr << "one\n";
  EXPECT_EQ(a.id, 1);
  g.backstop = false;
  a = runOn(loops.at(), make);
  std::cerr << "two\n"; g.backstop = true;
  g.fence = 5;
  a = runOn(loops.at(), make);
}
}
