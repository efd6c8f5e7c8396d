// Child processes of tests.
#pragma once

#include "tests/support/temporary_folder.h"

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace festa::test {

struct Command {
  std::vector<std::string> arguments;              // the first is the program
  std::map<std::string, std::string> environment;  // added to ours
  std::string output;  // file for standard output and error; empty: discarded
  int channel = -1;    // instead: a socket that becomes standard input and output
};

// A running child, killed when this goes out of scope.
class Process {
 public:
  explicit Process(const Command& command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Returns after SIGSTOP when every thread of the child has stopped.
  void signal(int number) const;
  bool isRunning();
  // Waits for the end; the exit code, or 128 + signal. -1: still running after the patience.
  int wait();
  long residentMegabytes() const;  // -1: it has ended
  // The processor's time that all its threads have used; -1: it has ended.
  double processorSeconds() const;

 private:
  const pid_t pid_;
  int status_ = -1;
};

// One that no program listens on, another one each time. Nothing else takes it meanwhile: it is of
// 10000 to 19999, below the ports of server.sh and of outgoing connections.
int freePort();
// Listens on the port of a server that has ended and never answers, to the end of the program.
// Clients outlive their tests; where a connection is refused they try again for ever.
void silencePort(int port);

}  // namespace festa::test
