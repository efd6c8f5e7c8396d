#include "tests/fuzz/corpus.h"

#include <fstream>
#include <stdexcept>
#include <string_view>

namespace festa::test {

namespace {

std::string unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    std::size_t length = text.front() == '\\' ? 2 : 1;
    switch (length == 1 ? 0 : text.at(1)) {
      case 0: bytes += text.front(); break;
      case 'n': bytes += '\n'; break;
      case 'r': bytes += '\r'; break;
      case 't': bytes += '\t'; break;
      case '\\': bytes += '\\'; break;
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string(text.substr(2, 2)), nullptr, 16));
        length = 4;
        break;
      default: throw std::runtime_error("an unknown escape: " + std::string(text));
    }
    text.remove_prefix(length);
  }
  return bytes;
}

}  // namespace

std::vector<CorpusInput> corpusInputs() {
  std::ifstream file(FRAMING_CORPUS);
  if (!file) throw std::runtime_error("cannot read " FRAMING_CORPUS);
  std::vector<CorpusInput> inputs;
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    inputs.push_back({line.substr(0, space), unescaped(std::string_view(line).substr(space + 1))});
  }
  return inputs;
}

}  // namespace festa::test
