#include "app/lab/lab_times.h"

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

}  // namespace festa
