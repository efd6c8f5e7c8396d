// The way of commands about lines to the server, and of its replies back.
#pragma once

#include "lock/redis/fenced_server.h"
#include "lock/redis/line/line_scripts.h"
#include "lock/redis/line/turn_batcher.h"

#include <coroutine>

namespace festa::lock {

// What became of commands that were sent in one call.
struct LineAnswer {
  std::vector<LineReply> replies = {};  // one for each command, or none: there was no reply
  SteadyTime sent;
  bool wasSent = true;  // false: the server has not got them
};

// Hears of all commands of a transport.
class AnswerListener {
 public:
  // Called on the loop on which the commands were said, before those that await one are resumed.
  virtual void answered(const std::vector<LineCommand>& commands, const LineAnswer& answer) = 0;

 protected:
  ~AnswerListener() = default;
};

class LineExchange;

// A command, and who awaits its reply; nullptr: only the listener hears of it.
struct SaidCommand {
  LineCommand command;
  LineExchange* exchange = nullptr;
};

// What one loop says in one turn is one call, or several where much is said; a beat or a quit is a
// call of its own. A server without a fence counter gets a new epoch and is asked again.
// Thread-safe; used on event loops' threads. All that the constructor takes outlives the transport,
// and that the event loops on which it is used.
class LineTransport : private TurnBatcher<SaidCommand>::Sender {
 public:
  LineTransport(FencedServer& server, const RedisKeys& keys, const std::string& process,
                AnswerListener& listener)
      : server_(server), keys_(keys), process_(process), listener_(listener) {}

  void say(SaidCommand said) { batcher_.say(std::move(said)); }

 private:
  void sendTurn(std::vector<SaidCommand> turn) override;
  drogon::AsyncTask carry(std::vector<LineCommand> commands, std::vector<LineExchange*> exchanges);
  // `commands` outlives the task.
  drogon::Task<std::vector<LineReply>> ask(const std::vector<LineCommand>& commands);

  FencedServer& server_;
  const RedisKeys& keys_;
  const std::string& process_;
  AnswerListener& listener_;
  TurnBatcher<SaidCommand> batcher_{*this, kStepsPerCall};
};

// Awaits the reply to one command; nullopt: there was none.
class LineExchange {
 public:
  LineExchange(LineTransport& transport, LineCommand command)
      : transport_(transport), command_(std::move(command)) {}
  LineExchange(const LineExchange&) = delete;
  LineExchange& operator=(const LineExchange&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  std::optional<LineReply> await_resume() { return std::move(reply_); }

 private:
  friend LineTransport;

  LineTransport& transport_;
  LineCommand command_;
  std::coroutine_handle<> waiting_;
  std::optional<LineReply> reply_;
};

}  // namespace festa::lock
