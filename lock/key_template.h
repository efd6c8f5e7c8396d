// Lock keys from request parameters: `announcement:{token.festivalId}`.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace festa::lock {

// The template itself is wrong; found at start.
class KeyTemplateError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A request does not carry the variable that its key needs: the caller's fault, a 4xx.
class MissingKeyVariable : public std::runtime_error {
 public:
  explicit MissingKeyVariable(const std::string& name)
      : std::runtime_error("lock key needs " + name), name_(name) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// A compiled template. Immutable, thread-safe. Rendering is injective: two different lists of
// values never give the same key, because the characters that could be mistaken for the template's
// own text are escaped in values.
class KeyTemplate {
 public:
  // Value of a variable such as "path.id", or nullopt when the request has none.
  using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

  // Throws KeyTemplateError on unbalanced braces, an empty or unknown variable, or two variables
  // without text between.
  static KeyTemplate compile(std::string_view text, const std::set<std::string>& knownVariables);

  // Throws MissingKeyVariable when a value is absent or empty.
  std::string render(const Lookup& lookup) const;

  const std::vector<std::string>& variables() const { return variables_; }

 private:
  std::vector<std::string>
      literals_;  // one more than variables_: text before, between and after them
  std::vector<std::string> variables_;
};

}  // namespace festa::lock
