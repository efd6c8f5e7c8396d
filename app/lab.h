// The lab as the rest of the program sees it, and the only door to app/lab/. A program is linked
// with app/lab/ or with app/without_lab.cc; nothing else of it differs.
#pragma once

#include "app/config/config.h"
#include "controllers/http/protection.h"
#include "lock/lock_observer.h"

#include <memory>
#include <string>
#include <vector>

namespace festa {

class ClaimFeed;
struct Foundation;
class PerformanceJsonCache;
class Pipeline;
class RenderedListCache;
class RouteTable;
class StreamBounds;
class StreamPlaces;

// What the lab's own copies of controllers share with those of the website. All of it outlives the
// lab's use: the run of the application.
struct LabSite {
  const Pipeline& pipeline;
  RenderedListCache& lists;
  PerformanceJsonCache& performances;
  ClaimFeed& claimFeed;
  StreamPlaces& claimPlaces;
  std::shared_ptr<StreamBounds> streams;
};

// Requests that choose how they are protected, and races. Only a lab start makes one, before
// app().run(). Thread-safe; outlives all requests.
class Lab {
 public:
  virtual ~Lab() = default;

  // In place of those that the lab was made of.
  virtual const Protections& protections() const = 0;
  virtual lock::LockObserver& lockObserver() = 0;

  // Adds the lab's routes to the website's others, and stands in front of those of which it has a
  // copy without a backstop. Once.
  virtual void publish(RouteTable& routes, const LabSite& site) = 0;

  // Ends pauses and event streams; the crowd of a race sends no more requests.
  virtual void close() = 0;
  // Returns when the race has ended, while the loops still run; not on one of them.
  virtual void stop() = 0;
};

// `on`, and all that it names, outlives the lab.
using MakeLab = std::unique_ptr<Lab> (*)(const Foundation& on);

// Throws ConfigError when this program was built without the lab.
void requireLab();
std::unique_ptr<Lab> makeLab(const Foundation& on);

// What load tests need of a lab: many users, and tokens without logging in. They throw ConfigError
// outside the lab.

// Users user1 … user<count> exist afterwards, all with the demo's password and one hash. Returns
// how many are new.
std::int64_t seedUsers(const Config& config, std::int64_t count);
// A token for the user or council of each name. Throws ConfigError for an unknown name.
std::vector<std::string> tokensFor(const Config& config, const std::vector<std::string>& names);

}  // namespace festa
