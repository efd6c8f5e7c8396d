// HAProxy with the configuration that is shipped, in front of services of a test.
#pragma once

#include "tests/support/servers/server.h"

#include <string>
#include <utility>
#include <vector>

namespace festa::test {

// docker/haproxy.cfg on loopback (scripts/server/haproxy.sh): its two listeners are on free ports,
// its first servers are the given instances and the others are left out. Nothing else is changed
// but what the test says.
class HaProxy {
 public:
  // Text of the file and what stands there instead, e.g. a shorter time.
  using Changes = std::vector<std::pair<std::string, std::string>>;

  // Returns when all instances are in use. Throws when that takes too long, or when a text to be
  // changed is not there exactly once.
  // `port`: where clients come in; 0: a free one.
  explicit HaProxy(const std::vector<int>& instances, const Changes& changes = {}, int port = 0);
  ~HaProxy();
  HaProxy(const HaProxy&) = delete;
  HaProxy& operator=(const HaProxy&) = delete;

  int port() const { return server_.port(); }
  // Requests of clients, as HAProxy counts them when it has read their headers; those that it
  // refuses are among them.
  long requests() const;
  std::string log() const { return server_.log(); }

 private:
  // The value of one of HAProxy's metrics; -1: it is not there.
  long metric(const std::string& series) const;

  Server server_;
};

}  // namespace festa::test
