#include "services/write/sql_array.h"

#include <utility>

namespace festa {

SqlArray& SqlArray::add(std::string_view value) {
  separate();
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
  return *this;
}

SqlArray& SqlArray::addNull() {
  separate();
  text_ += "NULL";
  return *this;
}

std::string SqlArray::take() {
  return std::exchange(text_, "{") + '}';
}

}  // namespace festa
