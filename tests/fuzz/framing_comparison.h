// Reads the same bytes with Drogon and with a reference, and says where they differ.
#pragma once

#include <string>
#include <string_view>

#include "tests/fuzz/strict_framing.h"

namespace festa::test {

// The first three bytes of an input of the fuzzer say how long the pieces are in which the rest
// arrives, in turns; 0 stands for all that is left. The rest is compared in these pieces and, once
// more, in one.
struct FuzzInput {
  static constexpr std::size_t kLengths = 3;

  explicit FuzzInput(std::string_view file)
      : lengths(file.substr(0, kLengths)), bytes(file.substr(lengths.size())) {}

  std::string_view lengths;
  std::string_view bytes;
};

// Empty: after each piece both have read the same requests, and have refused the same.
std::string disagreement(const FuzzInput& input, const StrictFraming& reference);

// The reference for DrogonConnection.
const StrictFraming& strictReference();

}  // namespace festa::test
