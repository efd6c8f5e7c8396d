// Request bodies, parsed strictly.
#pragma once

#include "services/error.h"

#include <drogon/HttpRequest.h>
#include <json/json.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace festa {

// The body as a JSON object. Throws ServiceError: kUnsupportedMediaType unless it is declared as
// JSON, kMalformedJson for anything that is not exactly one object in valid UTF-8 (comments,
// duplicate keys, trailing text, deep nesting, numbers that no double can hold). A whole number of
// 64 bits becomes an integer however it is written: 25.0 is 25.
// `maxMembers`: of all its objects together, and as many elements of all its arrays.
Json::Value parseJsonBody(const drogon::HttpRequest& request, std::size_t maxMembers);
// The same of a body that may be any JSON value, e.g. a list.
Json::Value parseAnyJsonBody(const drogon::HttpRequest& request, std::size_t maxMembers);
Json::Value parseJsonObject(std::string_view text,
                            std::size_t maxMembers = std::numeric_limits<std::size_t>::max());

// The value of a JSON number (`literal` must be one, RFC 8259) when it is a whole number of 64
// bits, however it is written: 25, 25.0, 2.5e1 and 250e-1 are 25. Exact: computed on the digits, so
// 9007199254740993.0 keeps its last one and 1e400 is simply no such number.
std::optional<std::int64_t> wholeNumber(std::string_view literal);

// Reads the fields of an object, collecting what is wrong with them. Unknown fields are ignored.
class FieldReader {
 public:
  static constexpr std::size_t kMaxUrl = 1000;

  explicit FieldReader(const Json::Value& object) : object_(object) {}

  // Each returns a harmless value when the field is wrong; done() then throws.
  std::string text(const char* field, std::size_t maxCharacters);  // not blank
  std::optional<std::string> notBlank(const char* field);  // of any length; nullopt: it was wrong
  std::string textOrEmpty(const char* field, std::size_t maxCharacters);  // may be blank
  // The address of a picture: http or https, at most kMaxUrl characters, no spaces.
  std::string url(const char* field);
  std::string urlOrEmpty(const char* field);  // absent, null or "": empty
  std::string clockTime(const char* field);   // HH:mm
  std::string password(const char* field, std::size_t minCharacters, std::size_t maxCharacters);
  std::string date(const char* field);      // yyyy-MM-dd
  std::string dateTime(const char* field);  // as canonicalTime() returns it
  std::string choice(const char* field, const std::vector<std::string>& allowed);
  bool flag(const char* field);
  bool flagOrFalse(const char* field);                     // absent or null: false
  std::int64_t id(const char* field);                      // a positive integer
  std::optional<std::int64_t> idIfAny(const char* field);  // absent or null: nullopt
  std::int64_t number(const char* field, std::int64_t least, std::int64_t most);
  // Calls `read` for each object of a list that has 1 to `most` of them; what is wrong with one is
  // named like `seats[0].location`.
  template <class ReadItem>
  void each(const char* field, std::size_t most, ReadItem read) {
    const auto count = countOf(field, most);
    for (Json::ArrayIndex i = 0; i < count; ++i) {
      if (!isObject(field, i)) continue;
      FieldReader item(object_[field][i]);
      read(item);
      takeErrors(field, i, item);
    }
  }

  void reject(const char* field, std::string ko, std::string en);
  void rejectLength(const char* field, std::size_t maxCharacters);
  bool allRight() const { return errors_.empty(); }
  bool isRight(const char* field) const;  // not rejected so far
  // Throws ServiceError(kValidationFailed) with all that was rejected.
  void done() const;

 private:
  // Items of a list; 0, and an error, when it is none or has too many.
  Json::ArrayIndex countOf(const char* field, std::size_t most);
  bool isObject(const char* field, Json::ArrayIndex index);
  void takeErrors(const char* field, Json::ArrayIndex index, FieldReader& item);
  // The field as a string PostgreSQL can store, or nullptr when it was rejected.
  const Json::Value* storable(const char* field);

  const Json::Value& object_;
  std::vector<FieldError> errors_;
};

}  // namespace festa
