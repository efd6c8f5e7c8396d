// UTF-8 as PostgreSQL accepts it.
#pragma once

#include <optional>
#include <string_view>

namespace festa {

// Number of code points, or nullopt when the bytes are not valid UTF-8 (overlong forms, surrogates
// and values above U+10FFFF are not valid).
std::optional<std::size_t> utf8Length(std::string_view text);

// Nothing but white space (ASCII, no-break, ideographic and other Unicode spaces). Expects valid
// UTF-8.
bool isBlank(std::string_view text);

}  // namespace festa
