#include "app/application.h"
#include "app/lab_tools.h"
#include "app/lock_settings.h"
#include "app/log.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

namespace {

constexpr const char* kUsage =
    "usage: festabook [--check] [config.json]\n"
    "       festabook seed --users N\n"
    "       festabook token NAME...\n"
    "  Serves the API. Settings come from the file and from FESTA_<SECTION>_<KEY> variables.\n"
    "  --check: reads and checks the settings, then ends.\n"
    "  seed, token: users with one password, tokens without logging in; for the lab.\n";

std::string readFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw festa::ConfigError("configuration: the file '" + path + "' cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int seed(const std::vector<std::string>& arguments) {
  std::int64_t count = 0;
  if (arguments.size() == 2 && arguments[0] == "--users") std::istringstream(arguments[1]) >> count;
  if (count <= 0) throw festa::ConfigError("usage: festabook seed --users N");
  const auto config = festa::readConfig("", festa::festaEnvironment());
  std::cout << festa::seedUsers(config, count) << " new users\n";
  return 0;
}

int printTokens(const std::vector<std::string>& names) {
  if (names.empty()) throw festa::ConfigError("usage: festabook token NAME...");
  const auto config = festa::readConfig("", festa::festaEnvironment());
  for (const auto& token : festa::tokensFor(config, names)) std::cout << token << '\n';
  return 0;
}

int start(int count, char** arguments) {
  const std::vector<std::string> rest(arguments + std::min(count, 2), arguments + count);
  if (count > 1 && std::string(arguments[1]) == "seed") return seed(rest);
  if (count > 1 && std::string(arguments[1]) == "token") return printTokens(rest);
  bool checkOnly = false;
  std::string path;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--help") {
      std::cout << kUsage;
      return 0;
    }
    if (argument == "--check")
      checkOnly = true;
    else
      path = argument;
  }
  const auto config =
      festa::readConfig(path.empty() ? "" : readFile(path), festa::festaEnvironment());
  if (checkOnly) {
    festa::checkLocks(config);
    return 0;
  }
  festa::initialiseLog(config.logLevel);
  festa::serve(config);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return start(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "festabook: " << error.what() << '\n';
    return 1;
  }
}
