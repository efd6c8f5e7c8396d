#include "app/application.h"
#include "app/lock_settings.h"
#include "app/log.h"

#include <fstream>
#include <iostream>
#include <sstream>

namespace {

constexpr const char* kUsage =
    "usage: festabook [--check] [config.json]\n"
    "  Serves the API. Settings come from the file and from FESTA_<SECTION>_<KEY> variables.\n"
    "  --check: reads and checks the settings, then ends.\n";

std::string readFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw festa::ConfigError("configuration: the file '" + path + "' cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int start(int count, char** arguments) {
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
