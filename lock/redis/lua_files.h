// The Lua scripts of this folder, compiled in.
#pragma once

#include <string>
#include <vector>

namespace festa::lock {

struct EmbeddedFile {
  std::string name;
  std::string content;
};

const std::vector<EmbeddedFile>& luaFiles();

// Throws std::logic_error: there is no such file.
std::string luaText(const std::string& name);

}  // namespace festa::lock
