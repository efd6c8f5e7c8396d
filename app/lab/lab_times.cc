#include "app/lab/lab_times.h"

#include <drogon/HttpAppFramework.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace festa {

namespace {

struct Moment {
  std::string_view name;
  std::int64_t LabTimes::*member;
};

constexpr std::array kMoments{
    Moment{"asked", &LabTimes::asked},           Moment{"received", &LabTimes::received},
    Moment{"granted", &LabTimes::granted},       Moment{"begun", &LabTimes::begun},
    Moment{"committing", &LabTimes::committing}, Moment{"ended", &LabTimes::ended},
    Moment{"released", &LabTimes::released},     Moment{"fence", &LabTimes::fence},
};

bool readNumber(std::string_view text, std::int64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size();
}

bool readPart(std::string_view name, std::string_view value, LabTimes& times) {
  if (name == "instance") times.instance = value;
  if (name == "outcome") times.outcome = value;
  for (const auto& moment : kMoments)
    if (name == moment.name) return readNumber(value, times.*moment.member);
  return name == "instance" || name == "outcome";
}

const std::string kAttribute = "festa.lab.times";
constexpr const char* kHeader = "X-Lab-Times";

using TimesPtr = std::shared_ptr<LabTimes>;

std::int64_t nanos(lock::SteadyClock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

std::string textOf(const LabTimes& times) {
  std::string text = "instance=" + times.instance;
  if (!times.outcome.empty()) text += ";outcome=" + times.outcome;
  for (const auto& moment : kMoments)
    if (times.*moment.member != 0)
      text += ';' + std::string(moment.name) + '=' + std::to_string(times.*moment.member);
  return text;
}

std::optional<LabTimes> labTimesIn(std::string_view text) {
  LabTimes times;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos ||
        !readPart(part.substr(0, equals), part.substr(equals + 1), times))
      return std::nullopt;
  }
  if (times.instance.empty()) return std::nullopt;
  return times;
}

std::int64_t LabTimekeeper::now() {
  return nanos(lock::SteadyClock::now().time_since_epoch());
}

void LabTimekeeper::install() {
  drogon::app().registerPreSendingAdvice(
      [](const drogon::HttpRequestPtr& request, const drogon::HttpResponsePtr& response) {
        const auto* const times = timesOf(request);
        if (times != nullptr) response->addHeader(kHeader, textOf(*times));
      });
}

void LabTimekeeper::attend(const drogon::HttpRequestPtr& request) const {
  if (request->getHeader(kHeader) != "on") return;
  auto times = std::make_shared<LabTimes>();
  times->instance = instance_;
  request->attributes()->insert(kAttribute, std::move(times));
}

LabTimes* LabTimekeeper::timesOf(const drogon::HttpRequestPtr& request) {
  const auto& attributes = request->attributes();
  return attributes->find(kAttribute) ? attributes->get<TimesPtr>(kAttribute).get() : nullptr;
}

void LabTimekeeper::finished(const drogon::HttpRequestPtr& request,
                             const lock::LockRecord& record) {
  inner_.finished(request, record);
  auto* const times = timesOf(request);
  if (times == nullptr) return;
  const bool ran = record.granted != lock::SteadyTime{};
  const auto moment = now();
  times->outcome = nameOf(record.outcome);
  times->fence = record.fence;
  if (!ran) {
    times->asked = moment - nanos(record.wait);
    return;
  }
  times->granted = nanos(record.granted.time_since_epoch());
  times->asked = times->granted - nanos(record.wait);
  if (record.fence > 0) times->received = nanos(record.received.time_since_epoch());
  times->ended = nanos(record.ended.time_since_epoch());
  if (times->released == 0) times->released = times->granted + nanos(record.hold);
}

}  // namespace festa
