// Works on entries of the work queue, several at a time.
#pragma once

#include "services/queue/rabbitmq_waiting_consumer.h"
#include "services/retry_pauses.h"

#include <map>

namespace festa::queue {

// An entry is acknowledged when its handler has returned. One that failed goes back after a pause,
// in which it keeps its place among the workers; after its last try it is given up.
class RabbitMqWorkConsumer : public RabbitMqRole {
 public:
  RabbitMqWorkConsumer(RabbitMqSettings settings, EntryHandlers& handlers, trantor::EventLoop* loop,
                       QueueObserver& observer);

  // Handlers that run now. On any thread.
  std::int64_t inWork() const { return running_; }

  void connected(RabbitMqConnection& connection) override;
  void received(RabbitMqConnection& connection, RabbitMqEvent event) override;
  SteadyTime turn(RabbitMqConnection& connection, SteadyTime now) override;
  void lost() override;
  void stopping(RabbitMqConnection& connection) override;
  bool isIdle() const override { return running_ == 0; }

 private:
  enum class Stage {
    kHeld,       // nothing has been done yet
    kWorking,    // the handler runs
    kGoingBack,  // it failed and is rejected at `due`
    kGivingUp,   // the last handler runs
    kNotGivenUp  // that failed too, and is tried again at `due`
  };
  struct Job {
    QueueEntry entry = 0;
    std::int64_t earlier = 0;
    Stage stage = Stage::kHeld;
    SteadyTime begun;
    SteadyTime due = SteadyTime::max();
    RetryPauses pauses;
  };
  struct Outcome {
    std::uint64_t session;
    std::uint64_t tag;
    bool failed;
  };
  using Outcomes = Mailbox<Outcome>;

  static drogon::AsyncTask handle(EntryHandlers& handlers, Stage stage, QueueEntry entry,
                                  Outcome outcome, std::shared_ptr<Outcomes> outcomes);
  void run(std::uint64_t tag, Job& job, Stage stage, SteadyTime now);
  void ended(RabbitMqConnection& connection, const Outcome& outcome, SteadyTime now);
  void failed(std::uint64_t tag, Job& job, SteadyTime now);
  // What is due for the job, if anything; true: it is gone.
  bool advance(RabbitMqConnection& connection, std::uint64_t tag, Job& job, SteadyTime now);
  RetryPauses pausesAfter(std::int64_t earlier) const;

  const RabbitMqSettings settings_;
  const RabbitMqNames names_;
  EntryHandlers& handlers_;
  trantor::EventLoop* const loop_;
  QueueObserver& observer_;
  const std::shared_ptr<Outcomes> outcomes_;

  std::uint64_t session_ = 0;             // counts connections
  std::atomic<std::int64_t> running_{0};  // handlers, also for connections that are gone
  bool stopping_ = false;
  std::map<std::uint64_t, Job> jobs_;  // by delivery tag, so in order of arrival
};

}  // namespace festa::queue
