// How many clients may be connected.
#pragma once

#include "controllers/http/client_address.h"
#include "controllers/http/drain.h"

#include <trantor/net/TcpConnection.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace festa {

struct ConnectionLimits {
  std::size_t inAll;
  std::size_t perAddress = 0;         // 0: no limit
  std::vector<AddressRange> proxies;  // many clients come from one of these
};

// Counts the connections of the HTTP server and closes those beyond the limits, and all of them
// when the process is about to end. Thread-safe.
class Connections {
 public:
  Connections(ConnectionLimits limits, std::shared_ptr<Drain> drain)
      : limits_(std::move(limits)), drain_(std::move(drain)) {}

  // Told by Drogon of every connection that begins or ends, on the connection's loop.
  void changed(const trantor::TcpConnectionPtr& connection);

  // At Drain::Stage::kClosing. Ends each connection behind what was written to it, which the drain
  // waits for.
  void endAll();

  std::size_t open() const;
  std::uint64_t refused() const { return refused_; }

 private:
  bool take(const trantor::TcpConnectionPtr& connection);
  void leave(const trantor::TcpConnection& connection);
  // The address to count the connection by; none when it comes from a trusted proxy.
  std::optional<std::string> counted(const trantor::TcpConnection& connection) const;

  const ConnectionLimits limits_;
  const std::shared_ptr<Drain> drain_;
  std::atomic<std::uint64_t> refused_{0};
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::unordered_map<const trantor::TcpConnection*, std::weak_ptr<trantor::TcpConnection>> open_;
  std::unordered_map<std::string, std::size_t> byAddress_;  // counts open_
};

// Raises the number of files this process may open to what it is allowed; returns that number.
std::size_t raiseFileLimit();

// The limit of connections that a configuration of 0 stands for: files are left for the rest.
std::size_t defaultConnectionLimit(std::size_t fileLimit);

}  // namespace festa
