#include "tests/support/process.h"

#include "tests/support/loops.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace festa::test {

namespace {

const passwd* postgresUser() {
  return getpwnam("postgres");
}

pid_t launch(const Command& command) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const bool replaced = command.environment.contains(text.substr(0, text.find('=')));
    // Settings of whoever runs the tests are not those of the services under test.
    if (!replaced && !text.starts_with("FESTA_")) environment.push_back(text);
  }
  for (const auto& [name, value] : command.environment) environment.push_back(name + "=" + value);
  std::vector<char*> arguments;
  std::vector<char*> variables;
  for (const auto& argument : command.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  for (const auto& entry : environment) variables.push_back(const_cast<char*>(entry.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  const auto* user = command.asPostgres && getuid() == 0 ? postgresUser() : nullptr;
  const std::string output = command.output.empty() ? "/dev/null" : command.output;

  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  dup2(file, 1);
  dup2(file, 2);
  dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  if (command.channel >= 0) {
    dup2(command.channel, 0);
    dup2(command.channel, 1);
  }
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  if (user != nullptr && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(126);
  // Nothing started by a test outlives it, whatever happens to the test.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execvpe(arguments[0], arguments.data(), variables.data());
  _exit(127);
}

struct TemporaryFolders {
  std::vector<std::string> paths;
  ~TemporaryFolders() {
    for (const auto& path : paths) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  }
} folders;

}  // namespace

Process::Process(const Command& command) : pid_(launch(command)) {
  if (pid_ < 0) throw std::runtime_error("fork failed");
}

Process::~Process() {
  if (!isRunning()) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

bool Process::isRunning() {
  if (status_ != -1) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

int Process::wait() {
  return eventually([this] { return !isRunning(); }) ? status_ : -1;
}

long Process::residentMegabytes() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6)) / 1024;
  return -1;
}

void runCommand(Command command) {
  if (command.output.empty()) command.output = makeTemporaryFolder() + "/output";
  Process process(command);
  const int status = process.wait();
  if (status == 0) return;
  std::ostringstream text;
  text << std::ifstream(command.output).rdbuf();
  throw std::runtime_error(command.arguments[0] + " ended with " + std::to_string(status) + ": " +
                           text.str());
}

int freePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(socket, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no free port");
  close(socket);
  return ntohs(address.sin_port);
}

void silencePort(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  // Nobody accepts: the system completes the connections. Somebody else's port by now is as good.
  if (bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket, 64) != 0)
    close(socket);
}

std::string makeTemporaryFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "festabook-test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
  if (getuid() == 0 && postgresUser() != nullptr &&
      chown(path.c_str(), postgresUser()->pw_uid, postgresUser()->pw_gid) != 0)
    throw std::runtime_error("the temporary folder cannot be given to postgres");
  folders.paths.push_back(path);
  return path;
}

}  // namespace festa::test
