#include "lock/drogon/loop_clients.h"

#include <drogon/HttpAppFramework.h>
#include <trantor/net/EventLoop.h>

#include <future>
#include <type_traits>
#include <utility>

namespace festa::lock {

namespace {

template <class Work>
void runAndWait(trantor::EventLoop* loop, const Work& work) {
  std::promise<void> done;
  loop->runInLoop([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

// On the thread of every loop: `begin` when all loops run and no request is served yet, `end` when
// that loop has stopped.
template <class Begin, class End>
void visitLoops(std::size_t count, const Begin& begin, const End& end) {
  drogon::app().registerBeginningAdvice([count, begin, end] {
    for (std::size_t i = 0; i < count; ++i) {
      auto& app = drogon::app();
      auto* const loop = i + 1 < count ? app.getIOLoop(i) : app.getLoop();
      runAndWait(loop, [&] { begin(i); });
      loop->runOnQuit([end, i] { end(i); });
    }
  });
}

template <class Client>
auto fastClientOfThisLoop(const std::string& name) {
  if constexpr (std::is_same_v<Client, drogon::orm::DbClient>)
    return drogon::app().getFastDbClient(name);
  else
    return drogon::app().getFastRedisClient(name);
}

}  // namespace

template <class Client>
std::shared_ptr<const LoopClients<Client>> LoopClients<Client>::create(std::string name) {
  const std::shared_ptr<LoopClients> all(new LoopClients(drogon::app().getThreadNum() + 1));
  visitLoops(
      all->clients_.size(),
      [all, name = std::move(name)](std::size_t i) {
        all->clients_[i] = fastClientOfThisLoop<Client>(name);
      },
      [all](std::size_t i) { all->clients_[i].reset(); });
  return all;
}

template <class Client>
std::shared_ptr<Client> LoopClients<Client>::here() const {
  const auto index = drogon::app().getCurrentThreadIndex();
  auto client = index < clients_.size() ? clients_[index] : nullptr;
  if (!client) throw NoClientHere();
  return client;
}

std::shared_ptr<const LoopDbClients> fastDbClients(std::string name) {
  return LoopDbClients::create(std::move(name));
}

std::shared_ptr<const LoopRedisClients> fastRedisClients(std::string name) {
  return LoopRedisClients::create(std::move(name));
}

template class LoopClients<drogon::orm::DbClient>;
template class LoopClients<drogon::nosql::RedisClient>;

}  // namespace festa::lock
