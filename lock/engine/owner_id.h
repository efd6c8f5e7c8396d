// Names for holds that no other process, and no other hold of this one, will ever use.
#pragma once

#include <string>

namespace festa::lock {

// 128 random bits in hex, drawn once per storage; a counter is appended per acquisition.
std::string randomOwnerPrefix();

}  // namespace festa::lock
