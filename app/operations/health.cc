#include "app/operations/health.h"

namespace festa {

const char* nameOf(Answering answering) {
  switch (answering) {
    case Answering::kYes: return "up";
    case Answering::kNo: return "down";
    case Answering::kNotConfigured: return "none";
  }
  return "?";
}

drogon::Task<Answering> Health::database() const {
  try {
    const auto client = database_.watchClient();
    co_await client->execSqlCoro("SELECT 1");
    co_return Answering::kYes;
  } catch (const drogon::orm::DrogonDbException&) {
    co_return Answering::kNo;
  }
}

drogon::Task<Answering> Health::redis() const {
  auto* const redis = locks_.redis();
  if (redis == nullptr) co_return Answering::kNotConfigured;
  try {
    const std::vector<std::string> ping{"PING"};
    co_await redis->call(ping);
    co_return Answering::kYes;
  } catch (const std::exception&) {
    co_return Answering::kNo;
  }
}

drogon::Task<Answering> Health::redlock() const {
  const auto answers = co_await locks_.redlockAnswers();
  if (!answers) co_return Answering::kNotConfigured;
  co_return *answers ? Answering::kYes : Answering::kNo;
}

Answering Health::broker() const {
  if (!queues_.hasBroker()) return Answering::kNotConfigured;
  return queues_.brokerIsThere() ? Answering::kYes : Answering::kNo;
}

}  // namespace festa
