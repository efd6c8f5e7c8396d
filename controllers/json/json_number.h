// Numbers as JSON writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace festa {

// The value of a JSON number (`literal` must be one, RFC 8259) when it is a whole number of 64
// bits, however it is written: 25, 25.0, 2.5e1 and 250e-1 are 25. Exact: computed on the digits, so
// 9007199254740993.0 keeps its last one and 1e400 is simply no such number.
std::optional<std::int64_t> wholeNumber(std::string_view literal);

}  // namespace festa
