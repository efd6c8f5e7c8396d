#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace festa::test {

namespace {

pid_t endedProcess() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return pid;
}

}  // namespace

TEST(TemporaryFolder, IsNewEachTime) {
  const auto one = makeTemporaryFolder();
  EXPECT_TRUE(std::filesystem::is_directory(one));
  EXPECT_NE(one, makeTemporaryFolder());
}

TEST(TemporaryFolder, OfAProgramThatWasKilledIsRemovedByTheNext) {
  const std::filesystem::path parent = makeTemporaryFolder();
  const auto left = parent / ("festabook-test-" + std::to_string(endedProcess()) + "-abcdef");
  const auto used = parent / ("festabook-test-" + std::to_string(getpid()) + "-abcdef");
  const auto other = parent / "something-else";
  for (const auto& folder : {left / "1" / "data", used, other})
    std::filesystem::create_directories(folder);
  removeLeftOvers(parent);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(used));
  EXPECT_TRUE(std::filesystem::exists(other));
}

}  // namespace festa::test
