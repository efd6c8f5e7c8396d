#include "app/operations/instance_rows.h"

#include "app/operations/log.h"

namespace festa {

namespace {

constexpr std::chrono::seconds kEvery{2};

lock::LockBoard::Counts sumOf(const lock::LockBoard& board) {
  lock::LockBoard::Counts sum;
  for (const auto& [kind, counts] : board.counts()) {
    sum.holding += counts.holding;
    sum.waiting += counts.waiting;
  }
  return sum;
}

}  // namespace

InstanceRows::InstanceRows(const DatabaseClients& database, const lock::LockBoard& board,
                           const Drain& drain, std::string name)
    : PeriodicTask(kEvery, {.fails = "this instance's row cannot be written",
                            .worksAgain = "this instance's row is written again"}),
      database_(database),
      board_(board),
      drain_(drain),
      name_(std::move(name)) {}

std::int64_t InstanceRows::upSeconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() -
                                                          started_)
      .count();
}

drogon::Task<> InstanceRows::work() {
  const auto client = database_.watchClient();
  const auto sum = sumOf(board_);
  co_await client->execSqlCoro(
      "WITH gone AS (DELETE FROM instances WHERE seen_at < now() - interval '1 minute' AND name <> "
      "$1)"
      " INSERT INTO instances (name, started_at, seen_at, holding, waiting, in_flight)"
      " VALUES ($1, now() - $2::bigint * interval '1 second', now(), $3, $4, $5)"
      " ON CONFLICT (name) DO UPDATE SET started_at = EXCLUDED.started_at, seen_at = now(),"
      " holding = EXCLUDED.holding, waiting = EXCLUDED.waiting, in_flight = EXCLUDED.in_flight",
      name_, upSeconds(), static_cast<std::int64_t>(sum.holding),
      static_cast<std::int64_t>(sum.waiting), drain_.inFlight());
}

void InstanceRows::log(bool fails, const std::string& text) const {
  LogLine("heartbeat", fails ? "warn" : "info").with("text", text);
}

drogon::Task<std::vector<InstanceRow>> InstanceRows::read() const {
  const auto client = database_.watchClient();
  const auto rows = co_await client->execSqlCoro(
      "SELECT name, extract(epoch FROM now() - started_at)::bigint,"
      " (extract(epoch FROM now() - seen_at) * 1000)::bigint, holding, waiting, in_flight"
      " FROM instances ORDER BY name LIMIT $1",
      static_cast<std::int64_t>(kMostRows));
  std::vector<InstanceRow> all;
  for (const auto& row : rows)
    all.push_back({row[0].as<std::string>(), row[1].as<std::int64_t>(), row[2].as<std::int64_t>(),
                   row[3].as<std::int64_t>(), row[4].as<std::int64_t>(),
                   row[5].as<std::int64_t>()});
  co_return all;
}

}  // namespace festa
