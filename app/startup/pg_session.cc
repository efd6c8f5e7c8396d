#include "app/startup/pg_session.h"

#include "app/operations/log.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace festa {

namespace {

std::string trimmed(std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return message;
}

pg_conn* connectOnce(const Config::Database& config) {
  const auto port = std::to_string(config.port);
  const std::array<const char*, 8> keys{
      "host", "port", "dbname", "user", "password", "application_name", "connect_timeout", nullptr};
  const std::array<const char*, 8> values{config.host.c_str(),
                                          port.c_str(),
                                          config.name.c_str(),
                                          config.user.c_str(),
                                          config.password.c_str(),
                                          "festabook-start",
                                          "5",
                                          nullptr};
  return PQconnectdbParams(keys.data(), values.data(), 0);
}

}  // namespace

void PgSession::Close::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

void PgSession::Clear::operator()(pg_result* result) const {
  PQclear(result);
}

PgSession::PgSession(const Config::Database& config, Patience patience) : patience_(patience) {
  const auto deadline = std::chrono::steady_clock::now() + config.connectTimeout;
  while (true) {
    connection_.reset(connectOnce(config));
    if (PQstatus(connection_.get()) == CONNECTION_OK) {
      // Notices such as "already exists, skipping" say nothing to an operator.
      PQsetNoticeProcessor(
          connection_.get(), [](void*, const char*) {}, nullptr);
      return;
    }
    const auto message = trimmed(PQerrorMessage(connection_.get()));
    if (std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error("PostgreSQL at " + config.host + ":" + std::to_string(config.port) +
                               " cannot be used: " + message);
    LogLine("database", "warn").with("text", "waiting for PostgreSQL: " + message);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

// Until PQgetResult() does not block.
void PgSession::waitForAnswer(std::chrono::steady_clock::time_point sent) {
  pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
  while (PQisBusy(connection_.get()) != 0) {
    int wait = -1;
    if (patience_ != kEndless) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          sent + patience_ - std::chrono::steady_clock::now());
      wait = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }
    const int ready = poll(&socket, 1, wait);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      connection_.reset();
      throw std::runtime_error("PostgreSQL does not answer");
    }
    if (PQconsumeInput(connection_.get()) == 0)
      throw std::runtime_error(trimmed(PQerrorMessage(connection_.get())));
  }
}

PgSession::ResultPtr PgSession::result() {
  const auto sent = std::chrono::steady_clock::now();
  ResultPtr last;
  while (true) {
    waitForAnswer(sent);
    ResultPtr next(PQgetResult(connection_.get()));
    if (!next) break;
    last = std::move(next);
  }
  const auto status = PQresultStatus(last.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(trimmed(PQerrorMessage(connection_.get())));
  return last;
}

void PgSession::run(const std::string& script) {
  PQsendQuery(connection_.get(), script.c_str());
  result();
}

std::vector<PgSession::Row> PgSession::query(const std::string& statement,
                                             const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const auto& parameter : parameters) values.push_back(parameter.c_str());
  PQsendQueryParams(connection_.get(), statement.c_str(), static_cast<int>(values.size()), nullptr,
                    values.data(), nullptr, nullptr, 0);
  const auto result = this->result();
  std::vector<Row> rows(static_cast<std::size_t>(PQntuples(result.get())));
  for (int row = 0; row < PQntuples(result.get()); ++row)
    for (int column = 0; column < PQnfields(result.get()); ++column)
      rows[static_cast<std::size_t>(row)].push_back(
          PQgetisnull(result.get(), row, column) != 0
              ? std::nullopt
              : std::optional<std::string>(PQgetvalue(result.get(), row, column)));
  return rows;
}

}  // namespace festa
