#include "controllers/http/drain.h"

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

Drain::InFlight::InFlight(std::shared_ptr<Drain> drain,
                          std::weak_ptr<trantor::TcpConnection> connection)
    : drain_(std::move(drain)),
      connection_(std::move(connection)),
      hasConnection_(!connection_.expired()) {
  ++drain_->served_;
}

bool Drain::InFlight::hasLostConnection() const {
  const auto connection = connection_.lock();
  return hasConnection_ && (!connection || connection->disconnected());
}

Drain::InFlight::~InFlight() {
  const bool isLost = !isAnswered_ || hasLostConnection();
  if (isLost && drain_->stage() != Stage::kServing) ++drain_->lost_;
  --(isRefused_ ? drain_->refused_ : drain_->served_);
}

void Drain::InFlight::refuse() {
  ++drain_->refused_;
  --drain_->served_;
  isRefused_ = true;
}

void Drain::watch(std::weak_ptr<trantor::TcpConnection> connection, Peer peer) {
  using Clock = std::chrono::steady_clock;
  const auto waitsUntil =
      peer == Peer::kCloses ? Clock::now() + std::chrono::seconds(1) : Clock::time_point::min();
  const std::lock_guard guard(mutex_);
  closing_.push_back({std::move(connection), waitsUntil});
}

std::int64_t Drain::closing() {
  const std::lock_guard guard(mutex_);
  // A connection leaves the connected state when its last byte has gone to the kernel. Most peers
  // close their side then; one that does not must not hold us up.
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(closing_, [&](const Closing& closing) {
    const auto connection = closing.connection.lock();
    return !connection || connection->disconnected() ||
           (!connection->connected() && closing.waitsUntil < now);
  });
  return static_cast<std::int64_t>(closing_.size());
}

bool Drain::isQuiet() {
  // In this order: a request that is being refused is in one of the two.
  return served_ == 0 && refused_ == 0 && closing() == 0;
}

void Drain::awaitServed(std::chrono::steady_clock::time_point deadline) {
  await(deadline, [this] {
    closing();  // forgets those of a crowd that comes back while holders finish
    return served_ == 0;
  });
  enter(Stage::kClosing);
}

std::int64_t Drain::awaitQuiet(std::chrono::steady_clock::time_point deadline) {
  const bool wasQuiet = await(deadline, [this] { return isQuiet(); });
  // Refused requests come and go while it stops; those count only if it did not become quiet. An
  // answer that is not out may belong to a request that is still in flight.
  return lost_ + (wasQuiet ? 0 : std::max(inFlight(), closing()));
}

}  // namespace festa
