// The names of a storage's keys in Redis.
#pragma once

#include <cstdint>
#include <string>

namespace festa::lock {

// Storages under one root share the fence counter, so their tokens can be compared; holds and lines
// are each storage's own.
class RedisKeys {
 public:
  RedisKeys(const std::string& root, const std::string& storage)
      : root_(root), storage_(root + ':' + storage) {}

  // The last token given; missing: draw an epoch.
  std::string fence() const { return root_ + ":fence"; }
  // The server for which that counter was started: a replica that took over is another one.
  std::string home() const { return root_ + ":home"; }
  // While an epoch is being drawn: since when, see redis_epoch.h.
  std::string loss() const { return root_ + ":loss"; }

  const std::string& storage() const { return storage_; }
  std::string hold(const std::string& key) const { return storage_ + ":hold:" + key; }
  // A process with waiters, and the channel on which it hears of offers.
  std::string alive(const std::string& process) const { return storage_ + ":alive:" + process; }
  std::string wake(const std::string& process) const { return storage_ + ":wake:" + process; }

 private:
  const std::string root_;
  const std::string storage_;
};

// A Redlock node has these besides.
class RedlockKeys : public RedisKeys {
 public:
  using RedisKeys::RedisKeys;

  std::string ready() const { return storage() + ":ready"; }  // missing: the node has no vote
  std::string began() const { return storage() + ":began"; }  // a quarantine has begun
  std::string quarantine() const { return storage() + ":quarantine"; }  // it is not over
  // This owner has given up; a request of its that comes late is refused.
  std::string tombstone(const std::string& owner) const { return storage() + ":gone:" + owner; }
  // The owner that has taken this token.
  std::string tokenOwner(std::int64_t token) const {
    return storage() + ":token:" + std::to_string(token);
  }
};

}  // namespace festa::lock
