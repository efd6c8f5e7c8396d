#include "app/config/instance_name.h"

#include <unistd.h>

#include <array>
#include <cctype>

namespace festa {

namespace {

constexpr std::size_t kLongestMachine = 70;

}  // namespace

std::string instanceName(const std::string& machine, std::uint16_t port) {
  std::string name = machine.substr(0, kLongestMachine);
  for (auto& c : name) {
    const bool isPlain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    if (!isPlain) c = '_';
  }
  return (name.empty() ? "unnamed" : name) + ':' + std::to_string(port);
}

std::string instanceName(const Config& config) {
  std::array<char, 256> machine{};
  gethostname(machine.data(), machine.size() - 1);
  return instanceName(std::string(machine.data()), config.http.port);
}

}  // namespace festa
