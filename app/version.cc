#include "app/version.h"

namespace festa {

std::string_view version() {
  return FESTA_VERSION;
}

}  // namespace festa
