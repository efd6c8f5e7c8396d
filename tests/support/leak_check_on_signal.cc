// Linked into the service of the ASan build alone. On SIGUSR2 it looks for memory that nothing
// refers to any more and writes "leak check: none" or "leak check: leaks" to stderr, while the
// service runs. LeakSanitizer's own look comes when the loops have ended, and finds coroutines that
// waited for them: those are no leak of a running service. On SIGUSR1 it loses memory, for the test
// of itself, and writes "leak check: lost". If both signals are pending, the handler of the second
// may run first: SIGUSR2 is sent after "lost" was read.
#include <fcntl.h>
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <thread>

namespace {

std::array<int, 2> wishes{};

void wish(int signal) {
  const char one = signal == SIGUSR1 ? 'l' : 'c';
  [[maybe_unused]] const auto written = write(wishes[1], &one, 1);
}

void check() {
  const bool leaks = __lsan_do_recoverable_leak_check() != 0;
  std::cerr << (leaks ? "leak check: leaks\n" : "leak check: none\n") << std::flush;
}

// A pointer to some of it may be left on the stack.
void lose() {
  for (int i = 0; i < 100; ++i) static_cast<void>(*new volatile char[100]);
  std::cerr << "leak check: lost\n" << std::flush;
}

void answerWishes() {
  for (char one = 0; read(wishes[0], &one, 1) == 1;) one == 'l' ? lose() : check();
}

[[gnu::constructor]] void install() {
  if (pipe2(wishes.data(), O_CLOEXEC) != 0) return;
  struct sigaction action {};
  action.sa_handler = wish;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR2, &action, nullptr);
  // The thread takes none of the signals that the service waits for.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(answerWishes).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
