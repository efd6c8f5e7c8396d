// The inputs that are kept in corpus.txt: the fuzzer starts from them, and every `./dev test` tries
// them. scripts/corpus.py writes the file and says how the bytes are escaped.
#pragma once

#include <string>
#include <vector>

namespace festa::test {

struct CorpusInput {
  std::string name;
  std::string bytes;
};

// Throws when the file is missing or malformed.
std::vector<CorpusInput> corpusInputs();

}  // namespace festa::test
