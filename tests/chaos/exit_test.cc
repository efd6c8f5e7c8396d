// SIGTERM ends the process with status 0, idle or loaded, with every storage and queue.
#include "tests/support/http/sales.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/loops.h"
#include "tests/support/servers/rabbit_server.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/redlock_nodes.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

namespace festa::test {

namespace {

constexpr int kClientsPerInstance = 6;
constexpr int kUsers = 1000;

enum class Use {
  kNone,    // no client has sent a request
  kBefore,  // clients waited for each other, and have gone
  kDuring,  // they still do
};

const StrategyRow& rowOf(const std::string& strategy) {
  return *findStrategy(strategy);
}

Service::Settings settingsOf(const std::string& strategy) {
  Service::Settings settings{{"DATABASE_CONNECTIONS", "8"}};
  const auto& row = rowOf(strategy);
  settings[row.queues ? "LOCK_LOCKABLES_COUPONS_STRATEGY" : "LOCK_STRATEGY"] = strategy;
  if (row.needs == Needs::kRabbitMq) {
    settings["RABBITMQ_HOST"] = "127.0.0.1";
    settings["RABBITMQ_PORT"] = std::to_string(sharedRabbit().port());
  } else if (row.needs == Needs::kRedlock) {
    settings["REDLOCK_NODES"] = sharedRedlockNodes().addresses();
  } else if (row.needs == Needs::kRedis) {
    settings["REDIS_HOST"] = "127.0.0.1";
    settings["REDIS_PORT"] = std::to_string(sharedRedis().port());
  }
  return settings;
}

// One database for all cases of a strategy: the first start of a database takes the longest.
const Config::Database& databaseOf(const std::string& strategy) {
  static std::map<std::string, Config::Database> all;
  const auto known = all.find(strategy);
  return known != all.end() ? known->second
                            : all.emplace(strategy, sharedPg().createDatabase()).first->second;
}

// Clients that want the same thing, over all instances. Each goes when it is turned away.
class Clients {
 public:
  using Ask = std::function<Response(HttpClient&, int)>;

  Clients(const std::vector<std::unique_ptr<Service>>& instances, const Ask& ask) {
    for (const auto& instance : instances)
      for (int i = 0; i < kClientsPerInstance; ++i)
        threads_.emplace_back([this, ask, port = instance->port()] {
          HttpClient client(port);
          while (!stopped_) {
            const auto answer = ask(client, ++asked_);
            if (answer.status == 0 || answer.code() == "SHUTTING_DOWN") return;
            if (answer.status < 300) ++served_;
          }
        });
  }
  ~Clients() {
    stopped_ = true;
    for (auto& thread : threads_) thread.join();
  }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  int served() const { return served_; }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<int> asked_{0};
  std::atomic<int> served_{0};
  std::vector<std::thread> threads_;
};

using Case = std::tuple<std::string, Use, int>;  // strategy, use, instances

std::string nameOf(const Case& one) {
  static const std::map<Use, std::string> kUses{
      {Use::kNone, "unused"}, {Use::kBefore, "idle"}, {Use::kDuring, "loaded"}};
  const auto& [strategy, use, count] = one;
  return inTestName(strategy) + '_' + kUses.at(use) + '_' + std::to_string(count);
}

bool hasStorageOrQueue(const StrategyRow& row) {
  return row.takesLock() || row.queues;
}

class Exit : public testing::TestWithParam<Case> {
 protected:
  Clients::Ask contention() {
    if (rowOf(strategy_).queues) {
      const auto path = "/coupons/" + std::to_string(sales_.coupon(1'000'000, false)) + "/claims";
      return [path](HttpClient& client, int number) {
        return client.request("POST", path, Sales::as(number % kUsers + 1));
      };
    }
    return [headers = instances_[0]->newFestival()](HttpClient& client, int number) {
      const auto body =
          R"({"title":")" + std::to_string(number) + R"(","content":"c","isPinned":false})";
      return client.send("POST", "/announcements", body, headers);
    };
  }

  void stopOnce(Use use, int count) {
    for (int i = 0; i < count; ++i)
      instances_.push_back(std::make_unique<Service>(database_, settingsOf(strategy_)));
    std::unique_ptr<Clients> clients;
    if (use != Use::kNone) {
      clients = std::make_unique<Clients>(instances_, contention());
      ASSERT_TRUE(eventually([&] { return clients->served() >= 10 * count; }));
      if (use == Use::kBefore) clients.reset();
    }
    for (auto& instance : instances_) instance->process().signal(SIGTERM);
    for (auto& instance : instances_)
      EXPECT_EQ(instance->process().wait(), 0) << instance->errors();
    clients.reset();
    instances_.clear();
  }

  const std::string strategy_ = std::get<0>(GetParam());
  const Config::Database& database_ = databaseOf(strategy_);
  const Sales sales_{database_};
  std::vector<std::unique_ptr<Service>> instances_;
};

}  // namespace

TEST_P(Exit, EveryStopEndsWithStatusZero) {
  const auto [strategy, use, count] = GetParam();
  if (rowOf(strategy).needs == Needs::kRedlock) sharedRedlockNodes().reset("festabook");
  for (int stop = 0; stop < sized(5, 100) && !HasFailure(); ++stop) stopOnce(use, count);
}

INSTANTIATE_TEST_SUITE_P(Storages, Exit,
                         testing::Combine(testing::ValuesIn(strategyNames(hasStorageOrQueue)),
                                          testing::Values(Use::kNone, Use::kBefore, Use::kDuring),
                                          testing::Values(1, 2)),
                         [](const auto& one) { return nameOf(one.param); });

}  // namespace festa::test
