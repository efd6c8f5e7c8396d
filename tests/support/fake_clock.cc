#include "tests/support/fake_clock.h"

#include "tests/support/servers/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace festa::test {

FakeClock::FakeClock() : file_(makeTemporaryFolder() + "/clock") {
  setOffset(std::chrono::seconds{0});
}

std::map<std::string, std::string> FakeClock::environment() const {
  const char* const asan = std::getenv("ASAN_OPTIONS");
  return {{"LD_PRELOAD", FAKE_CLOCK_LIBRARY},
          {"FAKE_CLOCK", file_},
          // ASan insists to be the first library, for no reason that applies here.
          {"ASAN_OPTIONS", std::string(asan == nullptr ? "" : asan) + ":verify_asan_link_order=0"}};
}

void FakeClock::setOffset(std::chrono::seconds offset) const {
  const std::int64_t seconds = offset.count();
  const int file = open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  const bool written = file >= 0 && pwrite(file, &seconds, sizeof seconds, 0) == sizeof seconds;
  if (file >= 0) close(file);
  if (!written) throw std::runtime_error("the fake clock cannot be set");
}

}  // namespace festa::test
