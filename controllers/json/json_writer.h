// JSON text written directly: several times faster than building a tree for answers that are asked
// for often.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace festa {

// Appends members and elements in order; commas are put where they belong. The caller balances
// begin and end.
class JsonWriter {
 public:
  JsonWriter& beginObject() { return open('{'); }
  JsonWriter& endObject() { return close('}'); }
  JsonWriter& beginArray() { return open('['); }
  JsonWriter& endArray() { return close(']'); }

  JsonWriter& key(std::string_view name);  // a literal of ours, not escaped
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(bool flag);
  JsonWriter& null();
  template <class T>
  JsonWriter& value(const std::optional<T>& v) {
    return v ? value(*v) : null();
  }
  JsonWriter& json(std::string_view text);  // already JSON

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string text_;
  bool needsComma_ = false;
};

// Appends `text` as a quoted JSON string.
void appendQuoted(std::string& out, std::string_view text);

}  // namespace festa
