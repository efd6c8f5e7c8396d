// Settings from the environment.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

inline std::string setting(const char* name) {
  const auto* const value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string("set ") + name);
  return value;
}

inline unsigned short port(const char* name) {
  return static_cast<unsigned short>(std::stoi(setting(name)));
}
