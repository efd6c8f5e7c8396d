#include "app/application.h"
#include "app/config/config_description.h"
#include "app/config/lock_settings.h"
#include "app/lab.h"
#include "app/operations/log.h"
#include "app/strategies/strategies.h"
#include "app/strategies/strategy_description.h"
#include "app/version.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

namespace {

constexpr const char* kUsage =
    "usage: festabook [--check] [config.json]\n"
    "       festabook --describe-config | --version\n"
    "       festabook strategies [--json | --needed [config.json] | --recommended N]\n"
    "       festabook seed --users N\n"
    "       festabook token NAME...\n"
    "  Serves the API. Settings come from the file and from FESTA_<SECTION>_<KEY> variables.\n"
    "  --check: reads and checks the settings, then ends.\n"
    "  --describe-config: prints every setting with its default and its bounds, as Markdown.\n"
    "  strategies: prints every strategy, as Markdown or JSON; --needed: the servers that the\n"
    "  configured ones need, one in each line; --recommended: the one for N instances.\n"
    "  seed, token: users with one password, tokens without logging in; for the lab.\n";

std::string readFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw festa::ConfigError("configuration: the file '" + path + "' cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int seed(const std::vector<std::string>& arguments) {
  festa::requireLab();
  std::int64_t count = 0;
  if (arguments.size() == 2 && arguments[0] == "--users") std::istringstream(arguments[1]) >> count;
  if (count <= 0) throw festa::ConfigError("usage: festabook seed --users N");
  const auto config = festa::readConfig("", festa::festaEnvironment());
  std::cout << festa::seedUsers(config, count) << " new users\n";
  return 0;
}

int printTokens(const std::vector<std::string>& names) {
  festa::requireLab();
  if (names.empty()) throw festa::ConfigError("usage: festabook token NAME...");
  const auto config = festa::readConfig("", festa::festaEnvironment());
  for (const auto& token : festa::tokensFor(config, names)) std::cout << token << '\n';
  return 0;
}

int print(const std::string& text) {
  std::cout << text;
  return 0;
}

festa::Config configIn(const std::string& path) {
  auto config = festa::readConfig(path.empty() ? "" : readFile(path), festa::festaEnvironment());
  if (config.lab) festa::requireLab();
  return config;
}

int printStrategies(const std::vector<std::string>& arguments) {
  const auto form = arguments.empty() ? "" : arguments[0];
  const auto value = arguments.size() > 1 ? arguments[1] : "";
  if (form.empty()) return print(festa::describeStrategies());
  if (form == "--json") return print(festa::strategiesAsJson());
  if (form == "--recommended" && !value.empty())
    return print(festa::recommendedStrategy(value != "1").name + '\n');
  if (form != "--needed") throw festa::ConfigError(kUsage);
  for (const auto needs : festa::neededServers(configIn(value)))
    std::cout << festa::nameOf(needs) << '\n';
  return 0;
}

int serve(const std::vector<std::string>& arguments) {
  bool checkOnly = false;
  std::string path;
  for (const auto& argument : arguments) {
    if (argument == "--check")
      checkOnly = true;
    else
      path = argument;
  }
  const auto config = configIn(path);
  if (checkOnly) {
    festa::checkLocks(config);
    return 0;
  }
  festa::initialiseLog(config.logLevel);
  festa::serve(config, &festa::makeLab);
  return 0;
}

int start(const std::vector<std::string>& arguments) {
  const auto has = [&](const char* option) {
    return std::find(arguments.begin(), arguments.end(), option) != arguments.end();
  };
  const auto command = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1),
                                      arguments.end());
  if (command == "seed") return seed(rest);
  if (command == "token") return printTokens(rest);
  if (command == "strategies") return printStrategies(rest);
  if (has("--help")) return print(kUsage);
  if (has("--version")) return print("festabook " + std::string(festa::version()) + '\n');
  if (has("--describe-config")) return print(festa::describeConfig());
  return serve(arguments);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return start({arguments + std::min(count, 1), arguments + count});
  } catch (const std::exception& error) {
    std::cerr << "festabook: " << error.what() << '\n';
    return 1;
  }
}
