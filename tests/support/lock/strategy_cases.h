// Parameters for tests that run once per row of the strategy table.
#pragma once

#include "app/strategies/strategies.h"
#include "tests/support/http/http.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/redlock_nodes.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace festa::test {

// The names of the rows that are as asked.
inline std::vector<std::string> strategyNames(bool (*isWanted)(const StrategyRow&)) {
  std::vector<std::string> names;
  for (const auto& row : strategyTable())
    if (isWanted(row)) names.push_back(row.name);
  return names;
}

// As a part of a test's name.
inline std::string inTestName(const std::string& strategy) {
  std::string name = strategy;
  std::ranges::replace(name, '-', '_');
  return name;
}

struct Protection {
  std::string name;  // of the test
  Headers headers;
};

inline std::string nameOfProtection(const testing::TestParamInfo<Protection>& info) {
  return info.param.name;
}

inline Protection alone(const std::string& strategy) {
  return {inTestName(strategy), {{"X-Concurrency", strategy}}};
}

inline Protection withBackstop(const std::string& strategy) {
  return {inTestName(strategy), {{"X-Concurrency", strategy}, {"X-Backstop", "on"}}};
}

// Every row that claims to protect, or those of them that do so across processes.
inline std::vector<Protection> eachAlone(bool acrossProcesses = false) {
  std::vector<Protection> all;
  for (const auto& row : strategyTable())
    if (!row.labOnly && !row.queues && (row.acrossProcesses || !acrossProcesses))
      all.push_back(alone(row.name));
  return all;
}

// A lab with the servers that every strategy needs.
inline Service::Settings labSettings() {
  sharedRedlockNodes().reset("festabook");
  return {{"LAB", "true"},
          {"REDIS_HOST", "127.0.0.1"},
          {"REDIS_PORT", std::to_string(sharedRedis().port())},
          {"REDLOCK_NODES", sharedRedlockNodes().addresses()},
          {"REDLOCK_TIMEOUT_MS", "500"}};
}

inline Headers joined(Headers headers, const Headers& more) {
  headers.insert(more.begin(), more.end());
  return headers;
}

}  // namespace festa::test
