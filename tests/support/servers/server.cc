#include "tests/support/servers/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace festa::test {

namespace {

// server.sh gives up earlier; Erlang on a busy machine needs half of this.
constexpr std::chrono::seconds kStartPatience{90};

// What comes until a line has ended, the other side is gone, or the patience is over.
std::string lineFrom(int socket) {
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  std::string line;
  while (!line.ends_with('\n') && std::chrono::steady_clock::now() < deadline) {
    pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, 1000) <= 0) continue;
    char byte = 0;
    if (recv(socket, &byte, 1, 0) <= 0) break;
    line += byte;
  }
  return line;
}

std::string readLine(const Command& command, std::unique_ptr<Process>& process) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("no socket for a server");
  auto withChannel = command;
  withChannel.channel = ends[1];
  process = std::make_unique<Process>(withChannel);
  close(ends[1]);
  auto line = lineFrom(ends[0]);
  close(ends[0]);
  return line;
}

}  // namespace

Server::Server(Options options)
    : options_(std::move(options)), folder_(makeTemporaryFolder() + '/' + options_.kind) {
  start();
}

void Server::start() {
  Command command{.arguments = {SERVER_SCRIPT, options_.kind, folder_},
                  .environment = options_.environment,
                  .output = folder_ + ".log"};
  if (port_ != 0)
    command.arguments.insert(command.arguments.end(), {"--port", std::to_string(port_)});
  command.arguments.insert(command.arguments.end(), options_.arguments.begin(),
                           options_.arguments.end());
  std::istringstream line(readLine(command, process_));
  std::string word;
  line >> word;
  if (word != "ready") {
    process_.reset();
    throw std::runtime_error(line.str() + log());
  }
  words_.clear();
  while (line >> word) words_[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  port_ = std::stoi(words_.at("port"));
}

std::string Server::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_ + ".log").rdbuf();
  return text.str();
}

}  // namespace festa::test
