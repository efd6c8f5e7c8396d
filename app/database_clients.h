// The connections to PostgreSQL.
#pragma once

#include "app/config/config.h"
#include "lock/drogon/loop_clients.h"
#include "services/write/database.h"

#include <memory>

namespace festa {

// How many shared transactions of one loop may be under way: each has a connection.
std::size_t batchesPerLoop(const Config& config);

// One client per loop, so that a request never leaves its thread. Made before app().run();
// thread-safe.
class DatabaseClients : public Database {
 public:
  explicit DatabaseClients(const Config& config);

  drogon::orm::DbClientPtr client() const override { return clients_->here(); }

  drogon::orm::DbClientPtr batchClient() const override { return batch_->here(); }

  // A client of its own, behind which no other work queues: a proxy would take a busy instance for
  // a dead one, and a rush must not delay the news of a changed password.
  drogon::orm::DbClientPtr watchClient() const { return watch_->here(); }

 private:
  const std::shared_ptr<const lock::LoopDbClients> clients_;
  const std::shared_ptr<const lock::LoopDbClients> batch_;
  const std::shared_ptr<const lock::LoopDbClients> watch_;
};

}  // namespace festa
