// Whether the servers that this process needs answer.
#pragma once

#include "app/database_clients.h"
#include "app/locks.h"
#include "app/queues.h"

namespace festa {

enum class Answering {
  kYes,
  kNo,
  kNotConfigured,  // and so not missed
};

const char* nameOf(Answering answering);

// Asks them. Thread-safe; awaited on an IO loop.
class Health {
 public:
  // All outlive this.
  Health(const DatabaseClients& database, const Locks& locks, const Queues& queues)
      : database_(database), locks_(locks), queues_(queues) {}

  drogon::Task<Answering> database() const;
  drogon::Task<Answering> redis() const;
  drogon::Task<Answering> redlock() const;  // a majority of its nodes
  Answering broker() const;                 // as far as is known

 private:
  const DatabaseClients& database_;
  const Locks& locks_;
  const Queues& queues_;
};

}  // namespace festa
