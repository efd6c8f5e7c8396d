// A lock as a route declares it: what it guards, by which key, how long one waits and holds; how
// its key is made of a request, and the strategy by which the request takes it.
#pragma once

#include "lock/lock_storage.h"

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace festa::lock {

struct Lockable {
  std::string name;           // in configuration, metrics and the middleware's name
  std::string key;            // template, see KeyTemplate
  std::string strategy = {};  // empty: the configured default
  Millis wait{5000};
  Millis lease{3000};
  Millis maxHold{0};  // renewed while the handler runs, up to this long in all; 0: never renewed
  bool failFast = false;      // do not wait; answer busyCode at once
  std::size_t together = 1;   // see LockRequest; above 1 the handler must gather, see LockHold
  std::string busyCode = {};  // for refuse() of a fail-fast lock, e.g. SEAT_BUSY
};

// One row of the strategy table as the filter sees it. Without a storage no lock is taken: the
// strategy then works inside the transaction, or is no protection at all.
struct Strategy {
  std::string name;
  LockStorage* storage = nullptr;  // outlives all holds
};

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

// Where values come from, such as that of "path.id".
class KeyVariables {
 public:
  virtual ~KeyVariables() = default;
  // nullopt: the request has none.
  virtual std::optional<std::string> variable(std::string_view name) const = 0;
};

// A compiled template. Immutable, thread-safe. Rendering is injective: two different lists of
// values never give the same key, because the characters that could be mistaken for the template's
// own text are escaped in values.
class KeyTemplate {
 public:
  // Throws KeyTemplateError on unbalanced braces, an empty or unknown variable, or two variables
  // without text between.
  static KeyTemplate compile(std::string_view text, const std::set<std::string>& knownVariables);

  // Throws MissingKeyVariable when a value is absent or empty.
  std::string render(const KeyVariables& values) const;

  const std::vector<std::string>& variables() const { return variables_; }

 private:
  std::vector<std::string>
      literals_;  // one more than variables_: text before, between and after them
  std::vector<std::string> variables_;
};

}  // namespace festa::lock
