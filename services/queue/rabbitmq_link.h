// A thread that keeps one connection to RabbitMQ and lives on it in one role.
#pragma once

#include "services/queue/rabbitmq_connection.h"

#include <atomic>
#include <string>
#include <thread>

namespace festa::queue {

// What a link does with its connection. Called on the link's thread only; what throws
// RabbitMqFailure ends the connection.
class RabbitMqRole {
 public:
  virtual ~RabbitMqRole() = default;

  virtual void connected(RabbitMqConnection& connection) = 0;
  virtual void received(RabbitMqConnection& connection, RabbitMqEvent event) = 0;
  // Does what is due. Called when all that has arrived is received, after every wake-up, and at the
  // time it returns.
  virtual SteadyTime turn(RabbitMqConnection& connection, SteadyTime now) = 0;
  // The connection is lost: its delivery tags are void, and missing confirms will not come.
  virtual void lost() = 0;

  // Begin nothing new.
  virtual void stopping(RabbitMqConnection& connection) = 0;
  // Nothing has been begun that is not finished.
  virtual bool isIdle() const = 0;

  const std::shared_ptr<const WakeUp>& wakeUp() const { return wake_; }

 private:
  const std::shared_ptr<const WakeUp> wake_ = std::make_shared<WakeUp>();
};

// Connects, and connects again whenever the connection is lost, with a jittered and growing pause.
class RabbitMqLink {
 public:
  // The role must outlive the link.
  RabbitMqLink(std::string name, RabbitMqSettings settings, RabbitMqRole& role);
  ~RabbitMqLink();
  RabbitMqLink(const RabbitMqLink&) = delete;
  RabbitMqLink& operator=(const RabbitMqLink&) = delete;

  // Lets the role finish what it has begun, for the settings' patience. Does not wait.
  void beginStop();
  void join();

 private:
  void run();
  void serve(RabbitMqConnection& connection);
  void pause(SteadyTime until) const;

  const std::string name_;
  const RabbitMqSettings settings_;
  RabbitMqRole& role_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace festa::queue
