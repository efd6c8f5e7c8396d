// Queues on the shared broker, each test with names of its own.
#pragma once

#include "services/queue/rabbitmq_queue.h"
#include "tests/queue/clerk.h"
#include "tests/support/servers/rabbit_server.h"

#include <gmock/gmock.h>

#include <numeric>

namespace festa::test {

class RabbitMqQueueTest : public testing::Test {
 protected:
  using Queue = std::unique_ptr<queue::RabbitMqQueue>;

  RabbitMqQueueTest() {
    settings_.port = sharedRabbit().port();
    static int tests = 0;
    settings_.prefix = "test" + std::to_string(++tests);
    settings_.firstRetryPause = queue::Millis{5};
    // For a slow machine. A test that measures them sets its own.
    settings_.connectTimeout = queue::Millis{10'000};
    settings_.publishTimeout = queue::Millis{10'000};
    settings_.stopPatience = queue::Millis{20'000};
  }

  // Started and connected.
  Queue open(const std::string& desk = "") { return open(settings_, desk); }
  Queue open(const queue::RabbitMqSettings& settings, const std::string& desk = "") {
    auto queue = std::make_unique<queue::RabbitMqQueue>(settings, *observer_);
    queue->start(clerk_->handlers(desk), loops_.at());
    EXPECT_TRUE(eventually([&] { return queue->isAvailable(); }));
    return queue;
  }

  std::future<void> publish(queue::RabbitMqQueue& queue, queue::QueueEntry entry) {
    return startOn(loops_.at(), [&queue, entry] { return queue.publish(entry); });
  }
  // All at once, in this order; returns when all are confirmed.
  void publishAll(queue::RabbitMqQueue& queue, const std::vector<queue::QueueEntry>& entries) {
    std::vector<std::future<void>> published;
    published.reserve(entries.size());
    for (const auto entry : entries) published.push_back(publish(queue, entry));
    for (auto& one : published) finish(std::move(one));
  }
  static std::vector<queue::QueueEntry> entries(queue::QueueEntry first, queue::QueueEntry last) {
    std::vector<queue::QueueEntry> all(static_cast<std::size_t>(last - first + 1));
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  bool areWorked(std::size_t count, std::chrono::seconds patience = kPatience) {
    return eventually([&] { return clerk_->worked().size() == count; }, patience);
  }
  bool hasLength(const std::string& queue, std::int64_t length) {
    return eventually(
        [&] { return sharedRabbit().messages(settings_.prefix + "." + queue) == length; });
  }

  Loops loops_;
  queue::RabbitMqSettings settings_;
  std::shared_ptr<Clerk> clerk_ = std::make_shared<Clerk>();
  std::shared_ptr<CountingObserver> observer_ = std::make_shared<CountingObserver>();
};

}  // namespace festa::test
