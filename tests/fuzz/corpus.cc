#include "tests/fuzz/corpus.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace festa::test {

std::vector<CorpusFile> corpusFiles() {
  std::vector<CorpusFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(FRAMING_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.push_back({entry.path().filename().string(),
                     {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
  }
  return files;
}

}  // namespace festa::test
