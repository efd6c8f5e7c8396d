#include "lock/redis/line/line_transport.h"

#include "tests/support/lock/one_client.h"
#include "tests/support/lock/storages.h"
#include "tests/support/servers/redis_server.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::LineCommand;
using lock::LineReply;

class LineTransportTest : public testing::Test, protected lock::AnswerListener {
 protected:
  using Reply = std::optional<LineReply>;

  void answered(const std::vector<LineCommand>& commands, const lock::LineAnswer& answer) override {
    const std::lock_guard guard(mutex_);
    calls_.push_back(commands.size());
    EXPECT_TRUE(answer.replies.empty() || answer.replies.size() == commands.size());
  }
  static drogon::Task<Reply> exchange(lock::LineTransport& transport, LineCommand command) {
    lock::LineExchange exchange(transport, std::move(command));
    co_return co_await exchange;
  }
  std::future<Reply> start(LineCommand command) {
    return startOn(loops_.at(), [this, command] { return exchange(transport_, command); });
  }
  LineCommand arrival(const std::string& key) {
    return lock::ArriveCommand{key, lock::Ticket{process_, ++last_, lock::Millis{30'000}}.text()};
  }
  // All said on the loop before the first one goes out.
  std::vector<Reply> exchangeAll(const std::vector<LineCommand>& commands) {
    std::vector<std::future<Reply>> waiting;
    std::promise<void> said;
    loops_.at()->queueInLoop([&] {
      for (const auto& command : commands) waiting.push_back(start(command));
      said.set_value();
    });
    said.get_future().wait();
    std::vector<Reply> replies;
    for (auto& one : waiting) replies.push_back(finish(std::move(one)));
    return replies;
  }
  std::vector<std::size_t> calls() {
    const std::lock_guard guard(mutex_);
    return calls_;
  }

  Loops loops_;
  RedisServer redis_;
  const lock::RedisKeys keys_{"test", "line"};
  const std::string process_ = "p";
  lock::FencedServer server_{keptCommands(redis_.connect()), keys_, *countedEpochs(),
                             lock::FencedServer::Home::kChecked};
  std::mutex mutex_;
  std::vector<std::size_t> calls_;  // commands in each
  std::uint64_t last_ = 0;
  lock::LineTransport transport_{server_, keys_, process_, *this};
};

}  // namespace

TEST_F(LineTransportTest, AServerWithoutAFenceCounterGetsAnEpochAndIsAskedAgain) {
  const auto reply = finish(start(arrival("k")));
  ASSERT_TRUE(reply && reply->grant);
  EXPECT_GT(reply->grant->fence >> 32, 0);
  EXPECT_EQ(calls(), std::vector<std::size_t>{1}) << "the listener hears of it once";
}

TEST_F(LineTransportTest, CommandsOfOneTurnAreOneCall) {
  finish(start(arrival("first")));
  for (const auto& reply : exchangeAll({arrival("b"), arrival("a"), arrival("c")}))
    EXPECT_TRUE(reply && reply->grant);
  EXPECT_EQ(calls(), (std::vector<std::size_t>{1, 3}));
}

TEST_F(LineTransportTest, ABeatIsACallOfItsOwn) {
  finish(start(arrival("first")));
  for (const auto& reply : exchangeAll({arrival("a"), lock::BeatCommand{}})) EXPECT_TRUE(reply);
  EXPECT_EQ(calls(), (std::vector<std::size_t>{1, 1, 1}));
}

TEST_F(LineTransportTest, WithoutAServerThereIsNoReply) {
  redis_.kill();
  EXPECT_FALSE(finish(start(arrival("k"))));
  EXPECT_EQ(calls(), std::vector<std::size_t>{1});
}

}  // namespace festa::test
