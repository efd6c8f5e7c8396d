// One Redis server as the lock storages use it.
#pragma once

#include "lock/breaker.h"

#include <drogon/nosql/RedisClient.h>

#include <functional>
#include <string>
#include <vector>

namespace festa::lock {

// A reply, copied out of the client's memory.
struct RedisReply {
  enum class Kind { kNil, kInteger, kText, kList };

  Kind kind = Kind::kNil;
  std::int64_t integer = 0;
  std::string text = {};
  std::vector<RedisReply> items = {};
};

// The server answered with an error; its text begins with a code such as NOSCRIPT.
class RedisError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The breaker is open: the command was not sent.
class RedisIsAway : public LockStorageUnavailable {
 public:
  RedisIsAway() : LockStorageUnavailable("Redis is away") {}
};

// A Lua text with its SHA1, computed once.
class RedisScript {
 public:
  explicit RedisScript(std::string text);
  const std::string& text() const { return text_; }
  const std::string& sha() const { return sha_; }

 private:
  const std::string text_;
  const std::string sha_;
};

// Sends commands with binary-safe arguments and waits for their replies. Thread-safe; awaited on an
// event loop's thread and resumed on that loop, never inside the client's own callbacks.
//
// Throws LockStorageUnavailable when no reply came (the command may have run), RedisIsAway when the
// breaker is open (it has not).
class RedisCommands {
 public:
  using ClientSource = std::function<drogon::nosql::RedisClientPtr()>;

  // `client` gives the client of the calling loop; it has a time-out set.
  explicit RedisCommands(ClientSource client) : client_(std::move(client)) {}

  // At most 16 arguments. Throws RedisError when the server refused.
  drogon::Task<RedisReply> call(std::vector<std::string> arguments);

  // By SHA, and with the text when the server does not know it: executed once either way. A refusal
  // (out of memory, loading, read-only) is LockStorageUnavailable too: it cannot serve us now.
  drogon::Task<RedisReply> run(const RedisScript& script, std::vector<std::string> keys,
                               std::vector<std::string> arguments);

  bool isAway() const { return breaker_.isOpen(); }

 private:
  const ClientSource client_;
  Breaker breaker_;
};

}  // namespace festa::lock
