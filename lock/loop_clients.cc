#include "lock/loop_clients.h"

#include <drogon/HttpAppFramework.h>
#include <trantor/net/EventLoop.h>

#include <future>
#include <utility>

namespace festa::lock {

namespace {

using Visit = std::function<void(std::size_t index)>;

void runAndWait(trantor::EventLoop* loop, const std::function<void()>& work) {
  std::promise<void> done;
  loop->runInLoop([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

// On the thread of every loop: `begin` when all loops run and nobody is served yet, `end` when that
// loop has stopped.
void visitLoops(std::size_t count, const Visit& begin, const Visit& end) {
  drogon::app().registerBeginningAdvice([count, begin, end] {
    for (std::size_t i = 0; i < count; ++i) {
      auto& app = drogon::app();
      auto* const loop = i + 1 < count ? app.getIOLoop(i) : app.getLoop();
      runAndWait(loop, [&] { begin(i); });
      loop->runOnQuit([end, i] { end(i); });
    }
  });
}

}  // namespace

template <class Client>
std::shared_ptr<const LoopClients<Client>> LoopClients<Client>::create(
    std::function<Ptr()> ofThisLoop) {
  const std::shared_ptr<LoopClients> all(new LoopClients(drogon::app().getThreadNum() + 1));
  visitLoops(
      all->clients_.size(),
      [all, ofThisLoop = std::move(ofThisLoop)](std::size_t i) { all->clients_[i] = ofThisLoop(); },
      [all](std::size_t i) { all->clients_[i].reset(); });
  return all;
}

template <class Client>
typename LoopClients<Client>::Ptr LoopClients<Client>::here() const {
  const auto index = drogon::app().getCurrentThreadIndex();
  auto client = index < clients_.size() ? clients_[index] : nullptr;
  if (!client) throw NoClientHere();
  return client;
}

std::shared_ptr<const LoopDbClients> fastDbClients(std::string name) {
  return LoopDbClients::create(
      [name = std::move(name)] { return drogon::app().getFastDbClient(name); });
}

std::shared_ptr<const LoopRedisClients> fastRedisClients(std::string name) {
  return LoopRedisClients::create(
      [name = std::move(name)] { return drogon::app().getFastRedisClient(name); });
}

template class LoopClients<drogon::orm::DbClient>;
template class LoopClients<drogon::nosql::RedisClient>;

}  // namespace festa::lock
