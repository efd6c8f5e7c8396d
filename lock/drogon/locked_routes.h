// The check that no route with a lock runs without it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace festa::lock {

class UnlockedRoute : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Drogon logs an unknown middleware name and then runs the route without it. Routes that need their
// middlewares are listed here as they are registered; verify() before run() throws UnlockedRoute
// if any of the names has no instance.
class LockedRoutes {
 public:
  void expect(const std::string& route, const std::string& middleware) {
    expected_.push_back({route, middleware});
  }
  void verify() const;

 private:
  struct Expected {
    std::string route;
    std::string middleware;
  };
  std::vector<Expected> expected_;
};

}  // namespace festa::lock
