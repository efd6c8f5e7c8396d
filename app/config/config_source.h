// Where settings come from: a JSON object, and variables that override it.
#pragma once

#include "app/config/config_fields.h"

#include <json/json.h>

#include <map>
#include <set>

namespace festa {

// Each read removes its key. The keys that are left at the end are unknown settings.
class Source {
 public:
  // `json` is "" for none. Throws ConfigError.
  Source(const std::string& json, std::map<std::string, std::string> variables);

  // Sets the field's member if there is a value for it. Throws ConfigError for one of the wrong
  // type or out of bounds.
  void read(const Field& field);

  // Throws ConfigError for a key or variable that no read field had.
  void requireAllRead() const;

 private:
  void flatten(const std::string& prefix, const Json::Value& object);
  std::optional<Json::Value> take(const std::string& key);
  std::optional<std::string> takeVariable(const std::string& key);

  std::optional<std::string> text(const std::string& key);
  std::optional<bool> flag(const std::string& key);
  std::optional<std::int64_t> number(const std::string& key);
  std::optional<std::vector<std::string>> list(const std::string& key);

  void readInto(const std::string& key, std::string* member);
  void readInto(const std::string& key, const Choice& choice);
  void readInto(const std::string& key, bool* member);
  void readInto(const std::string& key, std::optional<bool>* member);
  void readInto(const std::string& key, std::vector<std::string>* member);
  void readInto(const std::string& key, std::vector<Config::Redlock::Node>* member);
  template <class Number>
  void readInto(const std::string& key, const Bounded<Number>& bounded);

  std::map<std::string, Json::Value> values_;
  std::map<std::string, std::string> variables_;
  std::set<std::string> sections_;  // all that contain a setting
};

}  // namespace festa
