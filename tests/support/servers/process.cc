#include "tests/support/servers/process.h"

#include "tests/support/loops.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace festa::test {

namespace {

pid_t launch(const Command& command) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const bool replaced = command.environment.contains(text.substr(0, text.find('=')));
    // FESTA_ variables of the shell that runs the tests do not reach the services under test.
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
  // A process that a test started ends with the test program, also when that is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execvpe(arguments[0], arguments.data(), variables.data());
  _exit(127);
}

bool bindTo(int socket, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

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
  if (number != SIGSTOP) return;
  // kill() returns while threads of the child still run: a server would answer one request more.
  siginfo_t stopped{};
  waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
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

double Process::processorSeconds() const {
  std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return -1;
  // The name of the program is in parentheses and may have spaces; the times are 14th and 15th.
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int freePort() {
  static std::atomic<int> tried{0};
  for (int i = 0; i < 200; ++i) {
    // Programs that run at the same time begin to look at different places. From 18,000 on are the
    // ports of ./dev's own tests.
    const int port = 10'000 + (getpid() + 3331 * tried++) % 8'000;
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool isFree = bindTo(socket, port);
    close(socket);
    if (isFree) return port;
  }
  throw std::runtime_error("no free port");
}

void silencePort(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // accept() is never called: the kernel completes the connections. If another program has the port
  // by now, its own listener does the same.
  if (!bindTo(socket, port) || listen(socket, 64) != 0) close(socket);
}

}  // namespace festa::test
