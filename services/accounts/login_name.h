// Login names: one spelling for what looks the same, and nothing that cannot be seen.
#pragma once

#include <cstddef>
#include <string>

namespace festa {

inline constexpr std::size_t kMaxLogin = 50;  // characters, in NFC
// No spelling of a name has more characters: canonical decomposition makes at most four of one.
// Longer texts must not be normalised: the time grows with the square of a run of marks.
inline constexpr std::size_t kMaxLoginSpelling = 4 * kMaxLogin;

// All functions expect valid UTF-8 without NUL.

// Normalization Form C.
std::string toNfc(const std::string& text);

// Whether the text has characters that cannot be seen or that change how others are shown: control,
// format and bidirectional ones, line separators, fillers, variation selectors; or characters that
// are not assigned or for private use, whose look and normal form are not defined.
bool hasInvisible(const std::string& text);

// Whether the first or the last character is a space of any kind.
bool hasSpaceAtEnds(const std::string& text);

}  // namespace festa
