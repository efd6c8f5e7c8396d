// The settings as a table, bound to the members of one Config. The reader of the settings and their
// description go through it.
#pragma once

#include "app/config/config.h"

#include <type_traits>
#include <variant>

namespace festa {

template <class Number>
std::int64_t countOf(Number number) {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<std::int64_t>(number);
  else
    return number.count();
}

// A whole number or a time. Its key says in which unit it is written.
template <class Number>
struct Bounded {
  Number* member;
  std::int64_t least;
  std::int64_t most;
};

template <class Number>
Bounded<Number> within(Number& member, std::type_identity_t<Number> least,
                       std::type_identity_t<Number> most) {
  return {&member, countOf(least), countOf(most)};
}

using OptionalMillis = std::optional<std::chrono::milliseconds>;

inline Bounded<OptionalMillis> within(OptionalMillis& member, std::chrono::milliseconds least,
                                      std::chrono::milliseconds most) {
  return {&member, least.count(), most.count()};
}

// One of some words.
struct Choice {
  std::string* member;
  std::vector<std::string> words;
};

using FieldValue =
    std::variant<std::string*, Choice, bool*, std::optional<bool>*, std::vector<std::string>*,
                 std::vector<Config::Redlock::Node>*, Bounded<std::uint16_t>, Bounded<unsigned>,
                 Bounded<std::size_t>, Bounded<std::int64_t>, Bounded<std::chrono::milliseconds>,
                 Bounded<OptionalMillis>, Bounded<std::chrono::seconds>,
                 Bounded<std::chrono::minutes>, Bounded<std::chrono::hours>>;

struct Field {
  std::string key;
  FieldValue value;
  std::string help;
};

struct Section {
  std::string name;  // "": the keys without a dot
  std::string about;
  std::vector<Field> fields;
};

// All settings of `config`, which must outlive the result. The first section is the one without a
// name.
std::vector<Section> sectionsOf(Config& config);

// FESTA_HTTP_PORT for http.port
std::string variableName(const std::string& key);

}  // namespace festa
