// Waking a thread that waits in poll(), and handing it things.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace festa::queue {

// Signalled by any thread, cleared by the one that waits.
class WakeUp {
 public:
  WakeUp() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("no eventfd");
  }
  ~WakeUp() { ::close(fd_); }
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  int fd() const { return fd_; }
  void signal() const { eventfd_write(fd_, 1); }
  void clear() const {
    eventfd_t ignored = 0;
    eventfd_read(fd_, &ignored);
  }

 private:
  const int fd_;
};

// Thread-safe.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(std::shared_ptr<const WakeUp> wake) : wake_(std::move(wake)) {}

  void post(T value) {
    {
      const std::lock_guard guard(mutex_);
      values_.push_back(std::move(value));
    }
    wake_->signal();
  }
  std::vector<T> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(values_, {});
  }

 private:
  const std::shared_ptr<const WakeUp> wake_;
  std::mutex mutex_;
  std::vector<T> values_;  // guarded by mutex_
};

}  // namespace festa::queue
