// Where the parts of lock/ get their connections from.
#pragma once

#include <drogon/nosql/RedisClient.h>

#include <memory>

namespace festa::lock {

// The clients of one server, one for each event loop. Outlives what uses it. Thread-safe.
template <class Client>
class ClientSource {
 public:
  virtual ~ClientSource() = default;

  // The client of the calling loop; it has a time-out set.
  virtual std::shared_ptr<Client> here() const = 0;
};

using RedisClientSource = ClientSource<drogon::nosql::RedisClient>;

}  // namespace festa::lock
