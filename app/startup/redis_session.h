// A blocking connection to a Redis server, for threads that may wait: checks before the event loops
// run, and the lab's races.
#pragma once

#include "app/config/config.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct redisContext;

namespace festa {

// The server is away, hangs, or still reads its files.
class RedisDoesNotAnswer : public std::runtime_error {
 public:
  RedisDoesNotAnswer() : std::runtime_error("Redis does not answer") {}
};

// Not thread-safe.
class RedisSession {
 public:
  // nullopt: the server cannot be reached within two seconds.
  static std::optional<RedisSession> tryConnect(const std::string& host, std::uint16_t port);

  // AUTH, where there is a password; an empty user is the default one.
  void authenticate(const std::string& user, const std::string& password);

  // The texts of the reply. Throws RedisDoesNotAnswer, and std::runtime_error with the server's
  // message when it refuses.
  std::vector<std::string> call(const std::vector<std::string>& arguments);

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };
  using Context = std::unique_ptr<redisContext, Free>;

  explicit RedisSession(Context context) : context_(std::move(context)) {}

  Context context_;
};

}  // namespace festa
