#include "controllers/json/json_body.h"

#include "controllers/json/local_time.h"
#include "controllers/json/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace festa {

namespace {

constexpr std::size_t kMaxDepth = 32;

bool isJson(std::string contentType) {
  for (auto& c : contentType) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto type = contentType.substr(0, contentType.find(';'));
  const auto end = type.find_last_not_of(" \t");
  return end != std::string::npos && type.substr(0, end + 1) == "application/json";
}

// Builds the value from the events of nlohmann's parser, which keeps to RFC 8259 where jsoncpp's
// own is lenient even in its strict mode (comments, +1, 007, text after a NUL).
class ValueBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ValueBuilder(std::size_t maxMembers) : maxMembers_(maxMembers) {}

  bool null() override { return add(Json::Value()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(Json::Int64(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json::UInt64(value)); }
  // 7.0 becomes 7: one value must have one form, lock keys are made of it.
  bool number_float(number_float_t value, const string_t& literal) override {
    const auto whole = wholeNumber(literal);
    return whole ? add(Json::Int64(*whole)) : add(value);
  }
  bool string(string_t& value) override { return add(Json::Value(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::objectValue); }
  bool start_array(std::size_t) override { return open(Json::arrayValue); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    key_ = name;
    // A second one is an error; one with a NUL is another name to some parsers.
    return name.find('\0') == string_t::npos && !open_.back()->isMember(name) &&
           ++members_ <= maxMembers_;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  Json::Value take() { return std::move(root_); }

 private:
  bool add(Json::Value value) {
    if (!hasRoom()) return false;
    place() = std::move(value);
    return true;
  }
  bool open(Json::ValueType type) {
    if (open_.size() >= kMaxDepth || !hasRoom()) return false;
    auto& value = place();
    value = Json::Value(type);
    open_.push_back(&value);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  bool hasRoom() { return open_.empty() || !open_.back()->isArray() || ++elements_ <= maxMembers_; }
  Json::Value& place() {
    if (open_.empty()) return root_;
    return open_.back()->isArray() ? open_.back()->append(Json::Value()) : (*open_.back())[key_];
  }

  Json::Value root_;
  std::vector<Json::Value*> open_;  // containers begun and not ended, outermost first
  std::string key_;
  const std::size_t maxMembers_;
  std::size_t members_ = 0;
  std::size_t elements_ = 0;
};

Json::Value parseJsonValue(std::string_view text, std::size_t maxMembers) {
  if (!utf8Length(text)) throw ServiceError(ErrorCode::kMalformedJson, "body is not UTF-8");
  // nlohmann's parser skips a byte order mark, which RFC 8259 forbids.
  if (text.starts_with("\xEF\xBB\xBF"))
    throw ServiceError(ErrorCode::kMalformedJson, "body begins with a byte order mark");
  // The parser takes a NUL for the end of its input.
  if (text.find('\0') != std::string_view::npos)
    throw ServiceError(ErrorCode::kMalformedJson, "body contains a NUL");
  ValueBuilder builder(maxMembers);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    throw ServiceError(ErrorCode::kMalformedJson, "body is not JSON, or nested too deeply");
  return builder.take();
}

void requireJson(const drogon::HttpRequest& request) {
  if (!isJson(request.getHeader("content-type")))
    throw ServiceError(ErrorCode::kUnsupportedMediaType);
}

// Larger than the length of any body, so that sums with it cannot overflow and lengths cannot
// outweigh it.
constexpr std::int64_t kHugeExponent = 1'000'000'000'000;
constexpr std::int64_t kMostDigits = 19;  // a 64-bit number has no more

// `text` is what follows the letter e.
std::int64_t exponentIn(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto end = text.data() + text.size();
  const bool overflows = std::from_chars(text.data(), end, exponent).ec != std::errc();
  if (overflows) return text.starts_with('-') ? -kHugeExponent : kHugeExponent;
  return std::clamp(exponent, -kHugeExponent, kHugeExponent);
}

// digits × 10^exponent; no leading and no trailing zeros, zero itself has no digits.
struct Decimal {
  std::string digits;
  std::int64_t exponent;
};

Decimal decimalIn(std::string_view unsignedLiteral) {
  const auto letter = std::min(unsignedLiteral.find_first_of("eE"), unsignedLiteral.size());
  Decimal number{std::string(unsignedLiteral.substr(0, letter)), 0};
  if (letter < unsignedLiteral.size())
    number.exponent = exponentIn(unsignedLiteral.substr(letter + 1));
  auto& digits = number.digits;
  if (const auto point = digits.find('.'); point != std::string::npos) {
    number.exponent -= static_cast<std::int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  const auto significant = digits.find_last_not_of('0') + 1;
  number.exponent += static_cast<std::int64_t>(digits.size() - significant);
  digits.resize(significant);
  return number;
}

}  // namespace

std::optional<std::int64_t> wholeNumber(std::string_view literal) {
  const bool isNegative = literal.starts_with('-');
  auto [digits, exponent] = decimalIn(literal.substr(isNegative ? 1 : 0));
  if (digits.empty()) return 0;
  if (exponent < 0 || static_cast<std::int64_t>(digits.size()) + exponent > kMostDigits)
    return std::nullopt;
  digits.append(static_cast<std::size_t>(exponent), '0');
  if (isNegative) digits.insert(0, 1, '-');
  std::int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

Json::Value parseJsonObject(std::string_view text, std::size_t maxMembers) {
  auto value = parseJsonValue(text, maxMembers);
  if (!value.isObject()) throw ServiceError(ErrorCode::kMalformedJson, "body is not an object");
  return value;
}

Json::Value parseJsonBody(const drogon::HttpRequest& request, std::size_t maxMembers) {
  requireJson(request);
  return parseJsonObject(request.body(), maxMembers);
}

Json::Value parseAnyJsonBody(const drogon::HttpRequest& request, std::size_t maxMembers) {
  requireJson(request);
  return parseJsonValue(request.body(), maxMembers);
}

void FieldReader::reject(const char* field, std::string ko, std::string en) {
  errors_.push_back({field, std::move(ko), std::move(en)});
}

bool FieldReader::isRight(const char* field) const {
  return std::none_of(errors_.begin(), errors_.end(),
                      [&](const FieldError& error) { return error.field == field; });
}

void FieldReader::done() const {
  if (!errors_.empty()) throw ServiceError(errors_);
}

const Json::Value* FieldReader::storable(const char* field) {
  const Json::Value& value = object_[field];
  if (value.isNull()) {
    reject(field, "필수 값입니다.", "is required");
    return nullptr;
  }
  if (!value.isString()) {
    reject(field, "문자열이어야 합니다.", "must be a string");
    return nullptr;
  }
  const auto text = value.asString();
  // An escaped NUL or lone surrogate passes a JSON parser but cannot be stored.
  if (text.find('\0') != std::string::npos || !utf8Length(text)) {
    reject(field, "허용되지 않는 문자가 있습니다.", "contains characters that are not allowed");
    return nullptr;
  }
  return &value;
}

std::optional<std::string> FieldReader::notBlank(const char* field) {
  const auto* value = storable(field);
  if (value == nullptr) return std::nullopt;
  auto text = value->asString();
  if (!isBlank(text)) return text;
  reject(field, "비어 있을 수 없습니다.", "must not be blank");
  return std::nullopt;
}

void FieldReader::rejectLength(const char* field, std::size_t maxCharacters) {
  reject(field, "최대 " + std::to_string(maxCharacters) + "자까지 입력할 수 있습니다.",
         "must have at most " + std::to_string(maxCharacters) + " characters");
}

std::string FieldReader::text(const char* field, std::size_t maxCharacters) {
  auto text = notBlank(field).value_or("");
  if (*utf8Length(text) > maxCharacters) rejectLength(field, maxCharacters);
  return text;
}

std::string FieldReader::textOrEmpty(const char* field, std::size_t maxCharacters) {
  const auto* value = storable(field);
  if (value == nullptr) return {};
  auto text = value->asString();
  if (*utf8Length(text) > maxCharacters) rejectLength(field, maxCharacters);
  return text;
}

namespace {

// What a browser shows without running it, and what cannot hold the picture itself.
bool isPictureAddress(const std::string& text) {
  const bool isHttp = text.starts_with("https://") || text.starts_with("http://");
  const auto host = text.find("://") + 3;
  return isHttp && text.size() > host && text[host] != '/' &&
         std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c <= ' ' || c == 0x7F || c == '"'; });
}

}  // namespace

std::string FieldReader::url(const char* field) {
  auto text = this->text(field, kMaxUrl);
  if (isRight(field) && !isPictureAddress(text))
    reject(field, "http 또는 https 주소여야 합니다.", "must be an http or https address");
  return text;
}

std::string FieldReader::urlOrEmpty(const char* field) {
  const Json::Value& value = object_[field];
  const bool isEmpty = value.isNull() || (value.isString() && value.asString().empty());
  return isEmpty ? "" : url(field);
}

std::string FieldReader::password(const char* field, std::size_t minCharacters,
                                  std::size_t maxCharacters) {
  const auto* value = storable(field);
  if (value == nullptr) return {};
  auto text = value->asString();
  const auto length = *utf8Length(text);
  if (length < minCharacters || length > maxCharacters)
    reject(field,
           std::to_string(minCharacters) + "자 이상 " + std::to_string(maxCharacters) +
               "자 이하여야 합니다.",
           "must have " + std::to_string(minCharacters) + " to " + std::to_string(maxCharacters) +
               " characters");
  return text;
}

std::string FieldReader::date(const char* field) {
  const auto* value = storable(field);
  if (value == nullptr) return {};
  auto text = value->asString();
  if (!isCalendarDate(text))
    reject(field, "yyyy-MM-dd 형식의 날짜여야 합니다.", "must be a date, yyyy-MM-dd");
  return text;
}

std::string FieldReader::dateTime(const char* field) {
  const auto* value = storable(field);
  if (value == nullptr) return {};
  const auto time = canonicalTime(value->asString());
  if (time) return *time;
  reject(
      field,
      "yyyy-MM-dd HH:mm:ss 형식의 시각이거나, +09:00 같은 시차를 붙일 수 있는 ISO 8601 시각이어야 "
      "합니다.",
      "must be a date-time, yyyy-MM-dd HH:mm:ss, or ISO 8601, which may have an offset such as "
      "+09:00");
  return {};
}

std::string FieldReader::clockTime(const char* field) {
  const auto* value = storable(field);
  if (value == nullptr) return {};
  auto text = value->asString();
  if (!isHourAndMinute(text))
    reject(field, "HH:mm 형식의 시각이어야 합니다.", "must be a time of the day, HH:mm");
  return text;
}

std::string FieldReader::choice(const char* field, const std::vector<std::string>& allowed) {
  const auto* value = storable(field);
  if (value == nullptr) return {};
  auto text = value->asString();
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return text;
  std::string list;
  for (const auto& name : allowed) list += (list.empty() ? "" : ", ") + name;
  reject(field, "다음 중 하나여야 합니다: " + list, "must be one of " + list);
  return {};
}

bool FieldReader::flagOrFalse(const char* field) {
  return object_[field].isNull() ? false : flag(field);
}

bool FieldReader::flag(const char* field) {
  const Json::Value& value = object_[field];
  if (value.isBool()) return value.asBool();
  reject(field, "true 또는 false여야 합니다.", "must be true or false");
  return false;
}

namespace {

// The parser has made integers of all whole numbers that fit.
std::optional<std::int64_t> integerIn(const Json::Value& value) {
  const bool isInteger = value.type() == Json::intValue || value.type() == Json::uintValue;
  return isInteger && value.isInt64() ? std::optional(value.asInt64()) : std::nullopt;
}

}  // namespace

std::int64_t FieldReader::id(const char* field) {
  const auto value = integerIn(object_[field]);
  if (value && *value > 0) return *value;
  reject(field, "양의 정수여야 합니다.", "must be a positive integer");
  return 0;
}

std::optional<std::int64_t> FieldReader::idIfAny(const char* field) {
  return object_[field].isNull() ? std::nullopt : std::optional(id(field));
}

std::int64_t FieldReader::number(const char* field, std::int64_t least, std::int64_t most) {
  const auto value = integerIn(object_[field]);
  if (value && *value >= least && *value <= most) return *value;
  const auto from = std::to_string(least);
  const auto to = std::to_string(most);
  reject(field, from + " 이상 " + to + " 이하의 정수여야 합니다.",
         "must be a whole number from " + from + " to " + to);
  return least;
}

namespace {

std::string itemName(const char* field, Json::ArrayIndex index) {
  return std::string(field) + '[' + std::to_string(index) + ']';
}

}  // namespace

Json::ArrayIndex FieldReader::countOf(const char* field, std::size_t most) {
  const Json::Value& list = object_[field];
  if (list.isArray() && !list.empty() && list.size() <= most) return list.size();
  const auto limit = std::to_string(most);
  reject(field, "1개 이상 " + limit + "개 이하의 목록이어야 합니다.",
         "must be a list of 1 to " + limit + " items");
  return 0;
}

bool FieldReader::isObject(const char* field, Json::ArrayIndex index) {
  if (object_[field][index].isObject()) return true;
  reject(itemName(field, index).c_str(), "객체여야 합니다.", "must be an object");
  return false;
}

void FieldReader::takeErrors(const char* field, Json::ArrayIndex index, FieldReader& item) {
  for (auto& error : item.errors_)
    errors_.push_back(
        {itemName(field, index) + '.' + error.field, std::move(error.ko), std::move(error.en)});
}

}  // namespace festa
