// The status, the name and both texts of every error code, as clients get them.
#pragma once

#include "services/error.h"

#include <optional>
#include <string_view>

namespace festa {

struct ErrorRow {
  ErrorCode code;
  int status;
  const char* name;  // as clients know it, e.g. PINNED_LIMIT_EXCEEDED
  const char* ko;
  const char* en;
};

// Every code has its row: checked when this is compiled.
const ErrorRow& rowOf(ErrorCode code);

inline const char* nameOf(ErrorCode code) {
  return rowOf(code).name;
}

// Returns nothing when no code has this name.
std::optional<ErrorCode> errorCodeNamed(std::string_view name);

}  // namespace festa
