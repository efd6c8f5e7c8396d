// A private server of a test, started by scripts/server.sh: the same that ./dev run and the load
// test have.
#pragma once

#include "tests/support/servers/process.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace festa::test {

class Server {
 public:
  struct Options {
    std::string kind;                                     // as server.sh calls it
    std::vector<std::string> arguments = {};              // server.sh's options
    std::map<std::string, std::string> environment = {};  // of server.sh, and so of the server
  };

  // Starts it on a free port and returns when it answers. Throws std::runtime_error with
  // server.sh's reason and the server's last words when it does not.
  explicit Server(Options options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  // A word of server.sh's line by its name; throws std::out_of_range when it is not there.
  const std::string& word(const std::string& name) const { return words_.at(name); }
  const std::string& folder() const { return folder_; }  // its data
  std::string log() const;

  Process& process() { return *process_; }
  const Process& process() const { return *process_; }
  // Again, with the same folder and port, after it has ended.
  void start();

 private:
  const Options options_;
  const std::string folder_;
  int port_ = 0;
  std::map<std::string, std::string> words_;
  std::unique_ptr<Process> process_;
};

}  // namespace festa::test
