#include "controllers/drain.h"

#include <algorithm>
#include <thread>

namespace festa {

Drain::InFlight::InFlight(std::shared_ptr<Drain> drain) : drain_(std::move(drain)) {
  ++drain_->inFlight_;
}

Drain::InFlight::~InFlight() {
  --drain_->inFlight_;
}

void Drain::watch(std::weak_ptr<trantor::TcpConnection> connection) {
  const std::lock_guard guard(mutex_);
  closing_.push_back({std::move(connection), std::chrono::steady_clock::now()});
}

bool Drain::isQuiet() {
  if (inFlight() > 0) return false;
  const std::lock_guard guard(mutex_);
  // A connection leaves the connected state when its last byte has gone to the kernel. Most peers
  // close their side then; one that does not must not hold us up.
  const auto longAgo = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  std::erase_if(closing_, [&](const Closing& closing) {
    const auto connection = closing.connection.lock();
    return !connection || connection->disconnected() ||
           (!connection->connected() && closing.since < longAgo);
  });
  return closing_.empty();
}

bool Drain::awaitQuiet(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!isQuiet()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace festa
