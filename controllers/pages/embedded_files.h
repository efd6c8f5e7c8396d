// Files compiled into this program; cmake/embed_files.cmake writes the functions.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace festa {

struct EmbeddedFile {
  std::string name;
  std::string_view content;  // lives as long as the program
};

// In the order of their names.
const std::vector<EmbeddedFile>& docsFiles();       // controllers/pages/docs/
const std::vector<EmbeddedFile>& migrationFiles();  // migrations/
const std::vector<EmbeddedFile>& pageFiles();       // controllers/pages/assets/

// Throws std::logic_error when there is no file of this name.
inline std::string_view contentOf(const std::vector<EmbeddedFile>& files, const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const EmbeddedFile& file) { return file.name == name; });
  if (found == files.end()) throw std::logic_error("this program has no file " + name);
  return found->content;
}

}  // namespace festa
