// Values out of the text of /metrics.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace festa {

// Every counter and gauge by name, summed over its labels; of histograms the `…_sum` and `…_count`.
using MetricSums = std::map<std::string, double, std::less<>>;
MetricSums metricSums(std::string_view text);

// 0: there is none of this name.
double valueOf(const MetricSums& sums, std::string_view name);

// One family by the values of one of its labels, e.g. festa_queue_waiting by `queue`.
std::map<std::string, double> metricBy(std::string_view text, std::string_view name,
                                       std::string_view label);

}  // namespace festa
