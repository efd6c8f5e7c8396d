// Sells numbered tickets: POST /shows/{id}/tickets. Two requests for one show never run at the same
// time, and one that slept past its lease cannot write any more.
#include "in_memory.h"
#include "settings.h"

#include "lock/drogon/lock_middleware.h"
#include "lock/drogon/locked_routes.h"
#include "lock/drogon/loop_clients.h"

#include <drogon/HttpAppFramework.h>

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
namespace lock = festa::lock;

namespace {

std::shared_ptr<const lock::LoopDbClients> database;

HttpResponsePtr answer(drogon::HttpStatusCode status, const std::string& text) {
  auto response = drogon::HttpResponse::newHttpResponse(status, drogon::CT_TEXT_PLAIN);
  response->setBody(text + '\n');
  return response;
}

// Where keys come from, which storage a request uses, what a refused one is told.
class Host : public lock::LockMiddlewareHost {
 public:
  explicit Host(lock::LockStorage& storage) : storage_(storage) {}

  std::optional<std::string> variable(const HttpRequestPtr& request,
                                      std::string_view) const override {
    const auto& path = request->getRoutingParameters();
    return path.empty() ? std::nullopt : std::optional(path[0]);
  }
  lock::Strategy strategy(const HttpRequestPtr&, const lock::Lockable&) const override {
    return {"example", &storage_};
  }
  HttpResponsePtr refuse(const HttpRequestPtr&, lock::LockOutcome outcome,
                         const lock::Lockable&) const override {
    return answer(drogon::k503ServiceUnavailable, lock::nameOf(outcome));
  }

 private:
  lock::LockStorage& storage_;
};

class Log : public lock::LockObserver {
 public:
  void finished(const HttpRequestPtr&, const lock::LockRecord& record) override {
    LOG_INFO << record.key << ' ' << lock::nameOf(record.outcome) << " fence " << record.fence;
  }
  void renewed(const std::string&, const std::string&, lock::RenewalOutcome) override {}
};

// Reads, thinks for ?think_ms, writes. The fence is in the row that is written: a token that is not
// above the stored one belongs to a holder that was overtaken.
drogon::Task<HttpResponsePtr> sell(HttpRequestPtr request, std::int64_t show) {
  const auto hold = lock::holdOf(request);
  const auto fence = hold->fence().value();
  const auto db = database->here();
  const auto before = co_await db->execSqlCoro("SELECT sold FROM shows WHERE id = $1", show);
  if (before.empty()) co_return answer(drogon::k404NotFound, "no such show");
  const auto number = before[0][0].as<std::int64_t>() + 1;

  const auto think = request->getOptionalParameter<double>("think_ms").value_or(0);
  co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), think / 1000);

  const auto written = co_await db->execSqlCoro(
      "UPDATE shows SET sold = $1, fence = $2 WHERE id = $3 AND fence < $2 RETURNING id", number,
      fence, show);
  if (written.empty()) co_return answer(drogon::k409Conflict, "overtaken");
  co_return answer(drogon::k200OK, "ticket " + std::to_string(number));
}

// The table, a show, and an epoch that is larger at each start. libpq takes the rest of the
// connection from the environment (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE).
std::int64_t prepare() {
  const auto db = drogon::orm::DbClient::newPgClient("application_name=tickets", 1);
  db->execSqlSync("CREATE SEQUENCE IF NOT EXISTS lock_epoch");
  db->execSqlSync(
      "CREATE TABLE IF NOT EXISTS shows (id bigint PRIMARY KEY, sold bigint NOT NULL, "
      "fence bigint NOT NULL DEFAULT 0)");
  db->execSqlSync("INSERT INTO shows VALUES (1, 0) ON CONFLICT DO NOTHING");
  return db->execSqlSync("SELECT nextval('lock_epoch')")[0][0].as<std::int64_t>();
}

drogon::orm::PostgresConfig databaseConfig() {
  return {setting("PGHOST"),
          port("PGPORT"),
          setting("PGDATABASE"),
          setting("PGUSER"),
          setting("PGPASSWORD"),
          4,
          "default",
          true,
          "",
          5.0,
          false,
          {}};
}

}  // namespace

int main() {
  auto& app = drogon::app();
  const auto epoch = prepare();
  app.setThreadNum(2).addListener("127.0.0.1", port("PORT")).addDbClient(databaseConfig());
  database = lock::fastDbClients();

  auto& storage = inMemory(epoch);  // for several processes: onRedis(database), with "on_redis.h"

  const lock::Lockable show{.name = "show", .key = "show:{path.id}", .lease = lock::Millis{2000}};
  static const Host host(storage);
  static lock::LockBoard board(64);  // at most so many holders at a time
  static Log log;
  app.registerMiddleware(std::make_shared<lock::LockMiddleware>(
      show, std::set<std::string>{"path.id"}, host, board, log));
  app.registerHandler("/shows/{id}/tickets", &sell, {drogon::Post, "lock:show"});
  // Drogon runs a route without a middleware that it does not know; better not to start.
  lock::LockedRoutes routes;
  routes.expect("/shows/{id}/tickets", "lock:show");
  routes.verify();
  app.run();
}
