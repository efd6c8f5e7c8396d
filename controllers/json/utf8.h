// UTF-8 as PostgreSQL accepts it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace festa {

// Number of code points, or nullopt when the bytes are not valid UTF-8 (overlong forms, surrogates
// and values above U+10FFFF are not valid).
std::optional<std::size_t> utf8Length(std::string_view text);

// The text with U+FFFD in place of every byte that does not belong to a valid sequence.
std::string toUtf8(std::string_view bytes);

// Nothing but white space (ASCII, no-break, ideographic and other Unicode spaces). Expects valid
// UTF-8.
bool isBlank(std::string_view text);

}  // namespace festa
