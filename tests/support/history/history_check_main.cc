// history_check [--fifo] [--unknown <status>,…]: says on standard output which promises
// the events on standard input (History::text) break, a sentence each. Ends with 0 if none, 1 if
// some, 2 if it could not tell.
#include "tests/support/history/history.h"

#include <iostream>
#include <iterator>
#include <sstream>

namespace {

std::set<int> numbersOf(const std::string& list) {
  std::set<int> numbers;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) numbers.insert(std::stoi(word));
  return numbers;
}

festa::test::History::Promises promisesOf(int count, char** arguments) {
  festa::test::History::Promises promises;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--fifo")
      promises.fifo = true;
    else if (argument == "--unknown" && i + 1 < count)
      promises.unknown = numbersOf(arguments[++i]);
    else
      throw std::invalid_argument("usage: history_check [--fifo] [--unknown <status>,…]");
  }
  return promises;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto promises = promisesOf(count, arguments);
    festa::test::History history;
    history.read(std::string(std::istreambuf_iterator<char>(std::cin), {}));
    const auto broken = history.check(promises);
    for (const auto& sentence : broken) std::cout << sentence << '\n';
    return broken.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "history_check: " << error.what() << '\n';
    return 2;
  }
}
