// Drogon's fast clients, each on the loop that it belongs to.
#pragma once

#include <drogon/nosql/RedisClient.h>
#include <drogon/orm/DbClient.h>

#include <functional>
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
// they read a table that is being destroyed. So nobody else calls them: LoopClients takes all
// clients when the loops start, before the first request, and keeps each until its loop has ended.
// A client that quit() has closed answers with errors or not at all.
//
// Thread-safe.
template <class Client>
class LoopClients {
 public:
  using Ptr = std::shared_ptr<Client>;

  // The client of the calling loop. Throws NoClientHere on other threads, and before
  // app().run().
  Ptr here() const;

 private:
  explicit LoopClients(std::size_t loops) : clients_(loops) {}
  static std::shared_ptr<const LoopClients> create(std::function<Ptr()> ofThisLoop);

  friend std::shared_ptr<const LoopClients<drogon::orm::DbClient>> fastDbClients(std::string name);
  friend std::shared_ptr<const LoopClients<drogon::nosql::RedisClient>> fastRedisClients(
      std::string name);

  std::vector<Ptr> clients_;  // by the loop's index; each used by the thread of that loop only
};

using LoopDbClients = LoopClients<drogon::orm::DbClient>;
using LoopRedisClients = LoopClients<drogon::nosql::RedisClient>;

// The clients that were added to app() under this name as fast ones. Called after setThreadNum()
// and before app().run().
std::shared_ptr<const LoopDbClients> fastDbClients(std::string name = "default");
std::shared_ptr<const LoopRedisClients> fastRedisClients(std::string name = "default");

}  // namespace festa::lock
