// The website's locked writes once more, without a backstop, so that a broken lock is seen.
#pragma once

#include "app/lab.h"

namespace festa {

// Its services have the effects of those of the website, but read first and write then, in rows
// marked unguarded, which no constraint holds: right only if something else keeps other writers
// away. Under Guard::kConstraint they write as ever: constraints are the strategy then.
// Thread-safe.
class BareSite {
 public:
  // All outlive this, which outlives all requests.
  BareSite(const Foundation& on, const Protections& protections, const LabSite& site);
  ~BareSite();

  // Requests with `X-Backstop: off` are answered here from now on, all others as before.
  void standBehind(RouteTable& routes) const;

 private:
  struct Controllers;
  const std::unique_ptr<Controllers> controllers_;
};

}  // namespace festa
