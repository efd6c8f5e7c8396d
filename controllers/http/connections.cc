#include "controllers/http/connections.h"

#include <sys/resource.h>

#include <algorithm>
#include <system_error>

namespace festa {

namespace {

// Database, Redis, logs, event loops.
constexpr std::size_t kFilesForTheRest = 1000;
constexpr std::size_t kFilesWithoutLimit = 1'000'000;

}  // namespace

void Connections::changed(const trantor::TcpConnectionPtr& connection) {
  if (!connection->connected()) return leave(*connection);
  // Nothing has been read from it: its client may send everything again elsewhere.
  if (drain_->stage() == Drain::Stage::kClosing) return connection->forceClose();
  if (take(connection)) return;
  ++refused_;
  connection->forceClose();
}

std::optional<std::string> Connections::counted(const trantor::TcpConnection& connection) const {
  if (limits_.perAddress == 0) return std::nullopt;
  const auto address = connection.peerAddr().toIp();
  const bool isProxy = std::ranges::any_of(
      limits_.proxies, [&](const AddressRange& range) { return range.contains(address); });
  return isProxy ? std::nullopt : std::optional(address);
}

bool Connections::take(const trantor::TcpConnectionPtr& connection) {
  const auto address = counted(*connection);
  const std::lock_guard guard(mutex_);
  if (open_.size() >= limits_.inAll) return false;
  if (address) {
    const auto found = byAddress_.find(*address);
    if (found != byAddress_.end() && found->second >= limits_.perAddress) return false;
    ++byAddress_[*address];
  }
  open_.emplace(connection.get(), connection);
  return true;
}

void Connections::leave(const trantor::TcpConnection& connection) {
  const auto address = counted(connection);
  const std::lock_guard guard(mutex_);
  if (open_.erase(&connection) == 0 || !address) return;
  const auto found = byAddress_.find(*address);
  if (--found->second == 0) byAddress_.erase(found);
}

void Connections::endAll() {
  std::vector<trantor::TcpConnectionPtr> open;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [address, weak] : open_)
      if (auto connection = weak.lock()) open.push_back(std::move(connection));
  }
  for (const auto& connection : open) {
    drain_->watch(connection, Drain::Peer::kMayStay);
    connection->shutdown();
  }
}

std::size_t Connections::open() const {
  const std::lock_guard guard(mutex_);
  return open_.size();
}

std::size_t raiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::system_error(errno, std::generic_category(), "the limit of open files");
  limit.rlim_cur = limit.rlim_max;
  // A process that may not raise it keeps what it has.
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? kFilesWithoutLimit
                                         : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t defaultConnectionLimit(std::size_t fileLimit) {
  return fileLimit > 2 * kFilesForTheRest ? fileLimit - kFilesForTheRest : fileLimit / 2;
}

}  // namespace festa
