#include "tests/support/history/service_history.h"

#include <json/json.h>

#include <map>
#include <memory>
#include <sstream>

namespace festa::test {

namespace {

History::Time at(const Json::Value& nanos) {
  return History::Time(std::chrono::nanoseconds(nanos.asInt64()));
}

void addHold(History& history, const Json::Value& line) {
  static const std::map<std::string, History::End> kEnds{
      {"released", History::End::kReleased},
      {"release_unknown", History::End::kReleased},
      {"left_to_expire", History::End::kExpired},
      {"lost", History::End::kLost}};
  const auto end = kEnds.find(line["outcome"].asString());
  const auto fence = line["fence"].asInt64();
  // Others were refused, or their strategy takes no lock.
  if (end == kEnds.end() || fence == 0) return;
  const auto key = line["key"].asString();
  const auto who = line["request_id"].asString();
  history.granted(key, who, fence, at(line["granted_ns"]), line["hold"].asString());
  history.ended(key, who, fence, at(line["ended_ns"]), end->second);
}

}  // namespace

void addHolds(History& history, const std::string& log) {
  const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
  std::istringstream lines(log);
  for (std::string text; std::getline(lines, text);) {
    if (text.find(R"("event":"lock")") == std::string::npos) continue;
    Json::Value line;
    if (reader->parse(text.data(), text.data() + text.size(), &line, nullptr))
      addHold(history, line);
  }
}

}  // namespace festa::test
