#include "controllers/drain.h"

#include <algorithm>
#include <thread>

namespace festa {

namespace {

template <typename Condition>
bool await(std::chrono::steady_clock::time_point deadline, const Condition& holds) {
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace

Drain::InFlight::InFlight(std::shared_ptr<Drain> drain) : drain_(std::move(drain)) {
  ++drain_->served_;
}

Drain::InFlight::~InFlight() {
  --(isRefused_ ? drain_->refused_ : drain_->served_);
}

void Drain::InFlight::refuse() {
  ++drain_->refused_;
  --drain_->served_;
  isRefused_ = true;
}

void Drain::watch(std::weak_ptr<trantor::TcpConnection> connection) {
  const std::lock_guard guard(mutex_);
  closing_.push_back({std::move(connection), std::chrono::steady_clock::now()});
}

std::size_t Drain::closing() {
  const std::lock_guard guard(mutex_);
  // A connection leaves the connected state when its last byte has gone to the kernel. Most peers
  // close their side then; one that does not must not hold us up.
  const auto longAgo = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  std::erase_if(closing_, [&](const Closing& closing) {
    const auto connection = closing.connection.lock();
    return !connection || connection->disconnected() ||
           (!connection->connected() && closing.since < longAgo);
  });
  return closing_.size();
}

bool Drain::isQuiet() {
  // In this order: a request that is being refused is in one of the two.
  return served_ == 0 && refused_ == 0 && closing() == 0;
}

bool Drain::awaitQuiet(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  await(deadline, [this] {
    closing();  // forgets those of a crowd that comes back while holders finish
    return served_ == 0;
  });
  enter(Stage::kClosing);
  return await(deadline, [this] { return isQuiet(); });
}

}  // namespace festa
