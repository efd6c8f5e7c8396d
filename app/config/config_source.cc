#include "app/config/config_source.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>

namespace festa {

namespace {

std::vector<std::string> splitList(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');)
    if (!item.empty()) items.push_back(item);
  return items;
}

std::int64_t toNumber(const std::string& key, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw ConfigError(key, "must be a whole number, not '" + text + "'");
  return number;
}

// "host:port"
Config::Redlock::Node toNode(const std::string& key, const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw ConfigError(key, "must be a list of host:port, not '" + text + "'");
  const auto port = toNumber(key, text.substr(colon + 1));
  if (port < 1 || port > 65535)
    throw ConfigError(key, "must have ports from 1 to 65535, not '" + text + "'");
  return {text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

std::string joinedWithOr(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

Json::Value parse(const std::string& json) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["allowComments"] = true;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value root;
  std::string errors;
  try {
    if (!reader->parse(json.data(), json.data() + json.size(), &root, &errors) || !root.isObject())
      throw ConfigError("configuration: the file is not a JSON object: " + errors);
  } catch (const Json::Exception&) {
    throw ConfigError("configuration: the file is nested too deeply");
  }
  return root;
}

}  // namespace

Source::Source(const std::string& json, std::map<std::string, std::string> variables)
    : variables_(std::move(variables)) {
  if (!json.empty()) flatten("", parse(json));
}

void Source::read(const Field& field) {
  for (auto dot = field.key.find('.'); dot != std::string::npos; dot = field.key.find('.', dot + 1))
    sections_.insert(field.key.substr(0, dot));
  std::visit([&](const auto& value) { readInto(field.key, value); }, field.value);
}

void Source::requireAllRead() const {
  for (const auto& [key, value] : values_) {
    const bool isEmptySection = value.isObject() && sections_.contains(key);
    if (!isEmptySection) throw ConfigError(key, "is not a setting of this program");
  }
  if (!variables_.empty())
    throw ConfigError("configuration: the environment variable " + variables_.begin()->first +
                      " is not a setting of this program");
}

void Source::flatten(const std::string& prefix, const Json::Value& object) {
  for (const auto& name : object.getMemberNames()) {
    const auto key = prefix.empty() ? name : prefix + '.' + name;
    if (object[name].isObject() && !object[name].empty())
      flatten(key, object[name]);
    else
      values_[key] = object[name];
  }
}

std::optional<Json::Value> Source::take(const std::string& key) {
  const auto node = values_.extract(key);
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

std::optional<std::string> Source::takeVariable(const std::string& key) {
  const auto node = variables_.extract(variableName(key));
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

std::optional<std::string> Source::text(const std::string& key) {
  const auto value = take(key);
  if (value && !value->isString()) throw ConfigError(key, "must be a string");
  if (auto variable = takeVariable(key)) return variable;
  return value ? std::optional(value->asString()) : std::nullopt;
}

std::optional<bool> Source::flag(const std::string& key) {
  const auto value = take(key);
  if (value && !value->isBool()) throw ConfigError(key, "must be true or false");
  if (const auto variable = takeVariable(key)) {
    if (*variable != "true" && *variable != "false")
      throw ConfigError(key, "must be true or false, not '" + *variable + "'");
    return *variable == "true";
  }
  return value ? std::optional(value->asBool()) : std::nullopt;
}

std::optional<std::int64_t> Source::number(const std::string& key) {
  const auto value = take(key);
  if (value && (!value->isInt64() || value->type() == Json::realValue))
    throw ConfigError(key, "must be a whole number");
  if (const auto variable = takeVariable(key)) return toNumber(key, *variable);
  return value ? std::optional<std::int64_t>(value->asInt64()) : std::nullopt;
}

std::optional<std::vector<std::string>> Source::list(const std::string& key) {
  std::optional<std::vector<std::string>> items;
  if (const auto value = take(key)) {
    const auto isText = [](const Json::Value& item) { return item.isString(); };
    if (!value->isArray() || !std::all_of(value->begin(), value->end(), isText))
      throw ConfigError(key, "must be a list of strings");
    items.emplace();
    for (const auto& item : *value) items->push_back(item.asString());
  }
  if (const auto variable = takeVariable(key)) items = splitList(*variable);
  return items;
}

void Source::readInto(const std::string& key, std::string* member) {
  if (auto value = text(key)) *member = std::move(*value);
}

void Source::readInto(const std::string& key, const Choice& choice) {
  const auto value = text(key);
  if (!value) return;
  if (std::find(choice.words.begin(), choice.words.end(), *value) == choice.words.end())
    throw ConfigError(key, "must be " + joinedWithOr(choice.words) + ", not '" + *value + "'");
  *choice.member = *value;
}

void Source::readInto(const std::string& key, bool* member) {
  if (const auto value = flag(key)) *member = *value;
}

void Source::readInto(const std::string& key, std::optional<bool>* member) {
  if (const auto value = flag(key)) *member = value;
}

void Source::readInto(const std::string& key, std::vector<std::string>* member) {
  if (auto value = list(key)) *member = std::move(*value);
}

void Source::readInto(const std::string& key, std::vector<Config::Redlock::Node>* member) {
  const auto value = list(key);
  if (!value) return;
  member->clear();
  for (const auto& item : *value) member->push_back(toNode(key, item));
}

template <class Number>
void Source::readInto(const std::string& key, const Bounded<Number>& bounded) {
  const auto value = number(key);
  if (!value) return;
  if (*value < bounded.least || *value > bounded.most)
    throw ConfigError(key, "must be from " + std::to_string(bounded.least) + " to " +
                               std::to_string(bounded.most) + ", not " + std::to_string(*value));
  if constexpr (std::is_same_v<Number, OptionalMillis>)
    *bounded.member = std::chrono::milliseconds(*value);
  else
    *bounded.member = Number(*value);
}

}  // namespace festa
