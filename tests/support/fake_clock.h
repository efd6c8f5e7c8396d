// A wall clock of a child process that jumps when a test says so.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace festa::test {

// Right at first. The steady clock of the child is left alone.
class FakeClock {
 public:
  FakeClock();

  // What the child needs in its environment.
  std::map<std::string, std::string> environment() const;
  // From now on the child's wall clock differs from ours by this.
  void setOffset(std::chrono::seconds offset) const;

 private:
  const std::string file_;
};

}  // namespace festa::test
