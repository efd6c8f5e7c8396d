#include "app/pg_session.h"

#include "app/log.h"

#include <libpq-fe.h>

#include <array>
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

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, Clear>;

}  // namespace

void PgSession::Close::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

PgSession::PgSession(const Config::Database& config) {
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

void PgSession::run(const std::string& script) {
  const ResultPtr result(PQexec(connection_.get(), script.c_str()));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(trimmed(PQerrorMessage(connection_.get())));
}

std::vector<PgSession::Row> PgSession::query(const std::string& statement,
                                             const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const auto& parameter : parameters) values.push_back(parameter.c_str());
  const ResultPtr result(PQexecParams(connection_.get(), statement.c_str(),
                                      static_cast<int>(values.size()), nullptr, values.data(),
                                      nullptr, nullptr, 0));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(trimmed(PQerrorMessage(connection_.get())));
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
