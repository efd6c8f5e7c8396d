// argon2id off the event loops.
#pragma once

#include <drogon/utils/coroutine.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace festa {

// A few threads with a bounded queue. Thread-safe; awaited on an event loop's thread, resumes on
// that loop. Throws ServiceError(kOverloaded) when the queue is full.
class PasswordHasher {
 public:
  PasswordHasher(std::size_t threads, std::size_t maxQueued);
  ~PasswordHasher();
  PasswordHasher(const PasswordHasher&) = delete;
  PasswordHasher& operator=(const PasswordHasher&) = delete;

  // Ends the threads. To be called while the loops that await still exist: a result goes to its
  // loop. Jobs in the queue are dropped and their coroutines never resumed; later ones throw
  // ServiceError(kShuttingDown). Repeating it does nothing.
  void stop();

  drogon::Task<std::string> hash(std::string password);
  drogon::Task<bool> verify(std::string hash, std::string password);
  // Takes as long as verify() and returns false: for login names that do not exist.
  drogon::Task<bool> verifyUnknown(std::string password);

  // The same computations on the calling thread, for the work before the event loops run.
  static std::string hashNow(const std::string& password);
  static bool verifyNow(const std::string& hash, const std::string& password);

 private:
  class Job;
  class HashJob;
  class VerifyJob;
  void enqueue(Job& job);  // throws ServiceError
  void work();

  const std::size_t maxQueued_;
  const std::string randomHash_;  // of a random password that was forgotten
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> queue_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace festa
