#include "tests/support/temporary_folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace festa::test {

namespace {

const std::string kPrefix = "festabook-test-";
constexpr std::uint64_t kEnough = 4ULL << 30;  // twice what the largest program needs

std::filesystem::path parentFolder() {
  const std::filesystem::path memory = "/dev/shm";
  struct statvfs space {};
  const bool fits = statvfs(memory.c_str(), &space) == 0 && access(memory.c_str(), W_OK) == 0 &&
                    space.f_bavail * space.f_frsize >= kEnough;
  return std::getenv("TMPDIR") == nullptr && fits ? memory : std::filesystem::temp_directory_path();
}

void removeAll(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

// One per program, with the others in it.
class ProgramFolder {
 public:
  ProgramFolder() {
    const auto parent = parentFolder();
    removeLeftOvers(parent);
    path_ = (parent / (kPrefix + std::to_string(getpid()) + "-XXXXXX")).string();
    if (mkdtemp(path_.data()) == nullptr || chmod(path_.c_str(), 0755) != 0)
      throw std::runtime_error("no temporary folder " + path_);
  }
  // Not by a child of a test that dies.
  ~ProgramFolder() {
    if (getpid() == owner_) removeAll(path_);
  }
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

  std::string add() {
    const auto path = path_ + '/' + std::to_string(++count_);
    if (mkdir(path.c_str(), 0755) != 0) throw std::runtime_error("no temporary folder " + path);
    return path;
  }

 private:
  const pid_t owner_ = getpid();
  std::string path_;
  std::atomic<int> count_{0};
};

}  // namespace

void removeLeftOvers(const std::filesystem::path& parent) {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(parent, unreadable)) {
    const auto name = entry.path().filename().string();
    const int pid = name.starts_with(kPrefix) ? std::atoi(name.c_str() + kPrefix.size()) : 0;
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) removeAll(entry.path());
  }
}

std::string makeTemporaryFolder() {
  static ProgramFolder folder;
  return folder.add();
}

}  // namespace festa::test
