// One Redis server as the lock storages use it.
#pragma once

#include "lock/drogon/client_source.h"
#include "lock/engine/breaker.h"

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
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

// A Lua text. For constants: what it holds is never freed, because event loops may still run
// scripts while the process ends and its constants are destroyed.
class RedisScript {
 public:
  explicit RedisScript(std::string text) : text_(*new std::string(std::move(text))) {}
  RedisScript(const RedisScript&) = delete;
  RedisScript& operator=(const RedisScript&) = delete;
  const std::string& text() const { return text_; }

 private:
  const std::string& text_;
};

// Sends commands with binary-safe arguments and waits for their replies. Thread-safe; awaited on an
// event loop's thread and resumed on that loop, never inside the client's own callbacks.
//
// Throws LockStorageUnavailable when no reply came (the command may have run), RedisIsAway when the
// breaker is open (it has not).
class RedisCommands {
 public:
  // Awaited by run() when the server does not know a script: it may not be the server we knew.
  class Introduction {
   public:
    virtual drogon::Task<> introduce() = 0;

   protected:
    ~Introduction() = default;
  };

  // `clients` outlives this. Users of one server (and database) that do not share their keys have
  // different names: the server does not know the scripts of one by those of another.
  explicit RedisCommands(const RedisClientSource& clients, std::string user = "")
      : clients_(clients), user_(std::move(user)) {}

  // At most 44 arguments. Throws RedisError when the server refused.
  drogon::Task<RedisReply> call(std::vector<std::string> arguments);

  // By SHA, and with the text when the server does not know it: executed once either way. The
  // introduction, if any, comes before the text, and outlives the task. A refusal (out of memory,
  // loading, read-only) is LockStorageUnavailable too: it cannot serve us now.
  drogon::Task<RedisReply> run(const RedisScript& script, std::vector<std::string> keys,
                               std::vector<std::string> arguments,
                               Introduction* introduction = nullptr);

  bool isAway() const { return breaker_.isOpen(); }
  // How many replies were lost so far.
  std::uint64_t losses() const { return losses_; }

 private:
  struct Prepared {
    std::string text;
    std::string sha;
  };
  const Prepared& prepared(const RedisScript& script);
  // The arguments outlive the task.
  drogon::Task<RedisReply> send(const std::vector<std::string>& arguments);

  const RedisClientSource& clients_;
  const std::string user_;
  Breaker breaker_;
  std::atomic<std::uint64_t> losses_{0};
  std::mutex mutex_;
  std::unordered_map<const RedisScript*, Prepared> prepared_;  // guarded by mutex_; only grows
};

}  // namespace festa::lock
