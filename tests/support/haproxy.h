// HAProxy with the configuration that is shipped, in front of services of a test.
#pragma once

#include "tests/support/process.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace festa::test {

// docker/haproxy.cfg on loopback: its two listeners are on free ports, its first servers are the
// given instances and the others are left out. Nothing else is changed but what the test says.
class HaProxy {
 public:
  // Text of the file and what stands there instead, e.g. a shorter time.
  using Changes = std::vector<std::pair<std::string, std::string>>;

  // Returns when all instances are in use. Throws when that takes too long, or when a text to be
  // changed is not there exactly once.
  explicit HaProxy(const std::vector<int>& instances, const Changes& changes = {});
  ~HaProxy();
  HaProxy(const HaProxy&) = delete;
  HaProxy& operator=(const HaProxy&) = delete;

  int port() const { return port_; }
  // Requests of clients, as HAProxy counts them when it has read their headers; those that it
  // refuses are among them.
  long requests() const;
  std::string log() const;

 private:
  // The value of one of HAProxy's metrics; -1: it is not there.
  long metric(const std::string& series) const;

  const std::string folder_;
  const int port_;
  const int operationsPort_;
  std::unique_ptr<Process> process_;
};

}  // namespace festa::test
