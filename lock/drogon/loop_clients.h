// Drogon's fast clients, each on the loop that it belongs to.
#pragma once

#include "lock/drogon/client_source.h"

#include <drogon/orm/DbClient.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace festa::lock {

// A fast client was asked for on a thread that has none.
class NoClientHere : public std::logic_error {
 public:
  NoClientHere() : std::logic_error("fast clients exist on the application's own loops only") {}
};

// The fast clients of one name. Drogon makes one for every IO loop and one for the main loop; each
// is used on its loop only. Drogon itself does not check that: app().getFastDbClient() and
// getFastRedisClient() on any other thread read past the end of a table, and during app().quit()
// they read a table that is being destroyed. So only LoopClients calls them: it takes all
// clients when the loops start, before the first request, and keeps each until its loop has ended.
// A client that quit() has closed answers with errors or not at all.
//
// Thread-safe.
template <class Client>
class LoopClients : public ClientSource<Client> {
 public:
  // The clients that were added to app() under this name as fast ones. Shared: what app() calls at
  // the start and at the end of each loop keeps them as well.
  static std::shared_ptr<const LoopClients> create(std::string name);

  // Throws NoClientHere on threads that are not a loop's of app(), and before app().run().
  std::shared_ptr<Client> here() const override;

 private:
  explicit LoopClients(std::size_t loops) : clients_(loops) {}

  // By the loop's index; each used by the thread of that loop only.
  std::vector<std::shared_ptr<Client>> clients_;
};

using LoopDbClients = LoopClients<drogon::orm::DbClient>;
using LoopRedisClients = LoopClients<drogon::nosql::RedisClient>;

// Called after setThreadNum() and before app().run().
std::shared_ptr<const LoopDbClients> fastDbClients(std::string name = "default");
std::shared_ptr<const LoopRedisClients> fastRedisClients(std::string name = "default");

}  // namespace festa::lock
