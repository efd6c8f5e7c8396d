// The inputs that are kept in corpus/: what the fuzzer starts from, and what every change is tried
// with.
#pragma once

#include <string>
#include <vector>

namespace festa::test {

struct CorpusFile {
  std::string name;
  std::string bytes;
};

std::vector<CorpusFile> corpusFiles();

}  // namespace festa::test
