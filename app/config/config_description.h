// The settings, in print.
#pragma once

#include <string>

namespace festa {

// A Markdown document with every setting: key, variable, type, default, bounds and meaning. It is
// docs/configuration.md.
std::string describeConfig();

}  // namespace festa
