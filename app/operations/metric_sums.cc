#include "app/operations/metric_sums.h"

#include <cstdlib>
#include <optional>

namespace festa {

namespace {

struct Series {
  std::string_view name;
  std::string_view labels;  // between the braces
  double value;
};

// Calls `use(Series)` for each line that is one. Values of labels are ours: no braces in them.
template <class Use>
void eachSeries(std::string_view text, Use use) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto space = line.rfind(' ');
    if (line.empty() || line.front() == '#' || space == std::string_view::npos) continue;
    const auto series = line.substr(0, space);
    const auto brace = series.find('{');
    const auto name = series.substr(0, brace);
    const auto labels = brace == std::string_view::npos
                            ? std::string_view()
                            : series.substr(brace + 1, series.size() - brace - 2);
    use(Series{name, labels, std::strtod(std::string(line.substr(space + 1)).c_str(), nullptr)});
  }
}

std::optional<std::string> labelIn(std::string_view labels, std::string_view name) {
  const auto begin = std::string(name) + "=\"";
  const auto at = labels.find(begin);
  if (at == std::string_view::npos) return std::nullopt;
  const auto value = labels.substr(at + begin.size());
  return std::string(value.substr(0, value.find('"')));
}

}  // namespace

MetricSums metricSums(std::string_view text) {
  MetricSums sums;
  eachSeries(text, [&sums](const Series& series) {
    if (!series.name.ends_with("_bucket")) sums[std::string(series.name)] += series.value;
  });
  return sums;
}

double valueOf(const MetricSums& sums, std::string_view name) {
  const auto found = sums.find(name);
  return found == sums.end() ? 0 : found->second;
}

std::map<std::string, double> metricBy(std::string_view text, std::string_view name,
                                       std::string_view label) {
  std::map<std::string, double> values;
  eachSeries(text, [&](const Series& series) {
    if (series.name != name) return;
    if (const auto value = labelIn(series.labels, label)) values[*value] += series.value;
  });
  return values;
}

}  // namespace festa
