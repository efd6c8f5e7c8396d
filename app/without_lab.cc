#include "app/lab.h"

namespace festa {

void requireLab() {
  throw ConfigError(
      "this program was built without the lab (-DFESTA_LAB=OFF): 'lab' must be false, and there "
      "is neither seed nor token");
}

std::unique_ptr<Lab> makeLab(const Foundation&) {
  requireLab();
  return nullptr;
}

std::int64_t seedUsers(const Config&, std::int64_t) {
  requireLab();
  return 0;
}

std::vector<std::string> tokensFor(const Config&, const std::vector<std::string>&) {
  requireLab();
  return {};
}

}  // namespace festa
