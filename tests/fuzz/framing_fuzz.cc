// libFuzzer's target: the bytes of a connection, read by Drogon and by the reference
// (framing_comparison.h).
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/framing_comparison.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace festa::test;
  const FuzzInput input({reinterpret_cast<const char*>(data), size});
  const auto difference = disagreement(input, strictReference());
  if (difference.empty()) return 0;
  std::fprintf(stderr, "DISAGREEMENT %s\n", difference.c_str());
  std::abort();
}
