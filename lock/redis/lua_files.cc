#include "lock/redis/lua_files.h"

#include <stdexcept>

namespace festa::lock {

std::string luaText(const std::string& name) {
  for (const auto& file : luaFiles())
    if (file.name == name) return file.content;
  throw std::logic_error("no Lua script " + name);
}

}  // namespace festa::lock
