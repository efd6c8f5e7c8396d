// Preloaded into a program under test: its wall clock is wrong by the seconds that the file
// FAKE_CLOCK says at that moment. (faketime cannot do this to redis-server: its allocator asks for
// the time before faketime is ready for it.)
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* wrong_by;  // NULL until the program is loaded

__attribute__((constructor)) static void prepare(void) {
  const char* const path = getenv("FAKE_CLOCK");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void* const memory = mmap(NULL, sizeof *wrong_by, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) abort();
  wrong_by = memory;
}

int clock_gettime(clockid_t clock, struct timespec* result) {
  if (syscall(SYS_clock_gettime, clock, result) != 0) return -1;
  if (wrong_by != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    result->tv_sec += *wrong_by;
  return 0;
}

int gettimeofday(struct timeval* restrict result, void* restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}
