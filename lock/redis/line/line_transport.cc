#include "lock/redis/line/line_transport.h"

#include <trantor/utils/Logger.h>

#include <algorithm>
#include <utility>

namespace festa::lock {

void LineExchange::await_suspend(std::coroutine_handle<> handle) {
  waiting_ = handle;
  transport_.say({std::move(command_), this});
}

void LineTransport::sendTurn(std::vector<SaidCommand> turn) {
  const auto key = [](const SaidCommand& said) {
    const auto* about = keyOf(said.command);
    return about ? std::string_view(*about) : std::string_view();
  };
  if (turn.size() > 1) std::ranges::stable_sort(turn, {}, key);
  std::vector<LineCommand> commands;
  std::vector<LineExchange*> exchanges;
  for (std::size_t i = 0; i < turn.size(); ++i) {
    const bool isAlone = key(turn[i]).empty();
    commands.push_back(std::move(turn[i].command));
    exchanges.push_back(turn[i].exchange);
    if (isAlone || commands.size() == kStepsPerCall || i + 1 == turn.size())
      carry(std::exchange(commands, {}), std::exchange(exchanges, {}));
  }
}

drogon::AsyncTask LineTransport::carry(std::vector<LineCommand> commands,
                                       std::vector<LineExchange*> exchanges) {
  LineAnswer answer{.sent = SteadyClock::now()};
  try {
    answer.replies = co_await ask(commands);
  } catch (const RedisIsAway&) {
    answer.wasSent = false;
  } catch (const std::exception& error) {
    LOG_DEBUG << "no reply about a line: " << error.what();
  }
  listener_.answered(commands, answer);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!exchanges[i]) continue;
    if (!answer.replies.empty()) exchanges[i]->reply_ = std::move(answer.replies[i]);
    exchanges[i]->waiting_.resume();
  }
}

drogon::Task<std::vector<LineReply>> LineTransport::ask(const std::vector<LineCommand>& commands) {
  auto call = callOf(commands, keys_, process_);
  const auto answer =
      co_await server_.ask(call.script, std::move(call.keys), std::move(call.arguments));
  co_return repliesOf(answer.reply, commands);
}

}  // namespace festa::lock
