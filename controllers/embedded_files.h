// Files compiled into this program; cmake/embed_files.cmake writes the functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace festa {

struct EmbeddedFile {
  std::string name;
  std::string_view content;  // lives as long as the program
};

// In the order of their names.
const std::vector<EmbeddedFile>& docsFiles();       // controllers/docs/
const std::vector<EmbeddedFile>& migrationFiles();  // migrations/

}  // namespace festa
