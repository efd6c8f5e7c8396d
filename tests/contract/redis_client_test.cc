// What we rely on of Drogon's client for Redis: how its connections end. Clients with threads of
// their own are never destroyed here (RedisServer::connect): that is not relied on.
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"

#include <drogon/nosql/RedisSubscriber.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace festa::test {

namespace {

long clientsOf(const RedisServer& server, const std::string& field) {
  const auto info = server.command({"INFO", "clients"});
  const auto at = info.find(field + ":");
  return at == std::string::npos ? -1 : std::stol(info.substr(at + field.size() + 1));
}

bool hasSubscriber(const RedisServer& server) {
  return server.command({"PUBSUB", "NUMSUB", "channel"}) == "channel\n1\n";
}

bool hasNoClient(const RedisServer& server) {
  return clientsOf(server, "connected_clients") == 1;  // the one that asks
}

}  // namespace

TEST(RedisClient, AClientAndItsSubscriberMayBothCloseTheConnection) {
  for (int round = 0; round < 10; ++round) {
    const RedisServer server;
    const auto client = server.connect();
    auto subscriber = client->newSubscriber();
    subscriber->subscribe("channel", [](const std::string&, const std::string&) {});
    ASSERT_TRUE(eventually([&] { return hasSubscriber(server); }));
    if (round % 2 == 0) client->closeAll();
    subscriber.reset();
    if (round % 2 != 0) client->closeAll();
    EXPECT_TRUE(eventually([&] { return hasNoClient(server); }));
  }
}

TEST(RedisClient, ASubscriberMayGoBeforeItsConnectionStands) {
  for (int round = 0; round < 10; ++round) {
    const RedisServer server;
    const auto client = server.connect();
    client->newSubscriber()->subscribe("channel", [](const std::string&, const std::string&) {});
    client->closeAll();
    EXPECT_TRUE(eventually([&] { return hasNoClient(server); }));
  }
}

TEST(RedisClient, AConnectionThatIsClosedFailsItsUnansweredCommands) {
  for (int round = 0; round < 10; ++round) {
    const RedisServer server;
    const auto client = RedisServer::connectTo(server.port(), 1, kPatience * 2);
    const auto failed = std::make_shared<std::promise<void>>();
    client->execCommandAsync([](const auto&) { FAIL() << "the list is empty"; },
                             [failed](const auto&) { failed->set_value(); }, "BLPOP list 0");
    ASSERT_TRUE(eventually([&] { return clientsOf(server, "blocked_clients") == 1; }));
    client->closeAll();
    EXPECT_EQ(failed->get_future().wait_for(kPatience), std::future_status::ready);
    EXPECT_TRUE(eventually([&] { return hasNoClient(server); }));
  }
}

// Commands from a thread that is not the connection's wait in the queue of its loop.
TEST(RedisClient, ACommandMayMeetTheEndOfItsConnection) {
  for (int round = 0; round < 20; ++round) {
    const RedisServer server;
    const auto client = RedisServer::connectTo(server.port(), 4);
    const auto answers = std::make_shared<std::atomic<int>>(0);
    std::atomic<bool> stopped{false};
    std::thread sender([&] {
      while (!stopped)
        client->execCommandAsync([answers](const auto&) { ++*answers; },
                                 [answers](const auto&) { ++*answers; }, "PING");
    });
    EXPECT_TRUE(eventually([&] { return *answers > 100; }));
    server.command({"CLIENT", "KILL", "TYPE", "normal"});
    EXPECT_TRUE(eventually([&] { return hasNoClient(server); }));
    stopped = true;
    sender.join();
  }
}

}  // namespace festa::test
