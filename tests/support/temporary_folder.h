// Folders for the servers and logs of a test program, in memory where there is room: making and
// removing a hundred databases is most of what some programs would do on a disk.
#pragma once

#include <filesystem>
#include <string>

namespace festa::test {

// A new one, removed at the end of the test program; the user postgres can reach what is in it. In
// TMPDIR where that is set. Throws std::runtime_error when there can be none.
std::string makeTemporaryFolder();

// Removes from `parent` what programs have left that were killed. The first makeTemporaryFolder()
// does it.
void removeLeftOvers(const std::filesystem::path& parent);

}  // namespace festa::test
