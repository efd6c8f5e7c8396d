// Which version of festabook this is.
#pragma once

#include <string_view>

namespace festa {

// As CMake's project version has it, e.g. "2.0.0".
std::string_view version();

}  // namespace festa
