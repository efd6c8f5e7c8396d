// What a request says outside its body: in its path, its query and its headers.
#pragma once

#include "services/error.h"

#include <cstdint>
#include <string>

namespace festa {

// One value by its place and its name there, as the OpenAPI document calls them.
struct Parameter {
  const char* place;
  std::string name;
};
inline Parameter inPath(std::string name) {
  return {"path", std::move(name)};
}
inline Parameter inQuery(std::string name) {
  return {"query", std::move(name)};
}
inline Parameter inHeader(std::string name) {
  return {"header", std::move(name)};
}

// 400 INVALID_PARAMETER. Its answer names the parameter and says what is wrong, e.g. "must be on or
// off"; it never repeats the value.
ServiceError invalidParameter(const Parameter& parameter, std::string ko, std::string en);

// A whole number in decimal digits and nothing else. Throws invalidParameter().
std::int64_t parseNumber(const std::string& text, const Parameter& parameter, std::int64_t least,
                         std::int64_t most);

// A positive 64-bit number in decimal digits and nothing else: no sign, no leading zero, so that
// equal ids are equal texts in lock keys. Throws invalidParameter().
std::int64_t parseId(const std::string& text, const Parameter& parameter);

// Text that PostgreSQL can compare with what it stores, possibly empty. Throws invalidParameter().
std::string parseText(const std::string& text, const Parameter& parameter,
                      std::size_t maxCharacters);

}  // namespace festa
