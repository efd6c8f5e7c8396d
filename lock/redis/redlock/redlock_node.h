// One node of a Redlock: what it is asked, each in one atomic step.
#pragma once

#include "lock/redis/fenced_server.h"

namespace festa::lock {

struct NodeReply {
  enum class Kind {
    kYes,
    kNo,          // another owner's, or not ours any more
    kTokenTaken,  // ours, but the token is another owner's; `number` is a new one
    kNoVote,      // it cannot vote now: in quarantine, or no epoch to be had
    kAway,        // not asked: the breaker is open
    kLost,        // no answer, or an error: what we asked may have happened or may still happen
  };

  Kind kind = Kind::kLost;
  std::int64_t number = 0;  // of the node's fence counter, handed out once by this node

  bool isFailure() const {
    return kind == Kind::kNoVote || kind == Kind::kAway || kind == Kind::kLost;
  }
};

// Thread-safe; awaited on an event loop's thread and resumed on that loop. Nothing here throws:
// what goes wrong is a reply.
//
// A node without its ready marker was started empty and may have forgotten a hold. The first take()
// that sees that starts a quarantine of the longest lease there can be; after it, the next take()
// sets the marker and the node votes again. All by the node's own clock.
class RedlockNode {
 public:
  // `longestLease` must be the same in all processes that share the node. `clients` and `epochs`
  // outlive the node, and the node the event loops on which it is used.
  RedlockNode(const RedisClientSource& clients, RedlockKeys keys, EpochSource& epochs,
              Millis longestLease);

  // Once per owner. kYes comes with a number for the fence.
  drogon::Task<NodeReply> take(LockKey key, std::string owner, Millis lease);

  // Takes a token for a hold that is still the owner's. No two owners get it of the same node; the
  // counter is then at least as large.
  drogon::Task<NodeReply> takeToken(LockKey key, std::string owner, std::int64_t token);

  // See LockStorage::extend. With `fenceAbove`, kYes comes with a number above it.
  drogon::Task<NodeReply> extend(LockKey key, std::string owner, Extension extension);

  // kYes: given back. kNo: was not held, and will not be: a take() of this owner that is still
  // under way comes too late.
  drogon::Task<NodeReply> giveBack(LockKey key, std::string owner);

  // The same again and again, until it is confirmed or the lease is over. Runs by itself on the
  // calling loop.
  void giveBackUntil(const LockKey& key, const std::string& owner, SteadyTime until);

  // kYes: it answers.
  drogon::Task<NodeReply> ping();

 private:
  drogon::Task<NodeReply> ask(const RedisScript& script, std::vector<std::string> keys,
                              std::vector<std::string> arguments);
  drogon::Task<bool> isGivenBack(LockKey key, std::string owner);

  RedisCommands commands_;
  const RedlockKeys keys_;
  FencedServer server_;
  const std::string longestLease_;  // in ms, as the scripts take it
};

}  // namespace festa::lock
