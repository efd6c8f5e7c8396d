#include "tests/fuzz/strict_framing.h"

#include <algorithm>
#include <charconv>

namespace festa::test {

namespace {

// The bytes end before the request does.
struct Incomplete {};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool isHexDigit(char c) {
  return isDigit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

// RFC 9110, 5.6.2
bool isToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return isDigit(c) || (lower(c) >= 'a' && lower(c) <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Visible characters, spaces, tabs and bytes beyond ASCII (RFC 9110, 5.5).
bool isText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The members of a comma-separated list, in lower case (RFC 9110, 5.6.1).
std::vector<std::string> members(std::string_view list) {
  std::vector<std::string> result;
  while (true) {
    const auto comma = list.find(',');
    result.push_back(lowered(trimmed(list.substr(0, comma))));
    if (comma == std::string_view::npos) return result;
    list.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> number(std::string_view digits, int base) {
  std::size_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

class StrictFraming::Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool atEnd() const { return position_ == bytes_.size(); }
  std::size_t position() const { return position_; }

  // The next line, without its CRLF and not longer than `limit`; a negative limit admits not even
  // an empty one.
  std::string_view line(std::ptrdiff_t limit, const char* reason) {
    const auto rest = bytes_.substr(position_);
    const auto crlf = rest.find("\r\n");
    const bool isComplete = crlf != std::string_view::npos;
    const auto seen = static_cast<std::ptrdiff_t>(isComplete ? crlf + 2 : rest.size());
    // The CRLF does not count, so that two bytes more may still be a line that is short enough.
    if (seen > limit + 2)
      throw FramingRefusal{reason, position_ + static_cast<std::size_t>(limit + 3)};
    if (!isComplete) throw Incomplete{};
    position_ += crlf + 2;
    return rest.substr(0, crlf);
  }

  std::string_view take(std::size_t count) {
    if (bytes_.size() - position_ < count) throw Incomplete{};
    position_ += count;
    return bytes_.substr(position_ - count, count);
  }

  [[noreturn]] void refuse(const char* reason) const { throw FramingRefusal{reason, position_}; }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
};

struct StrictFraming::HeaderBudget {
  std::size_t bytes = 0;
  std::size_t lines = 0;
};

Framing StrictFraming::read(std::string_view bytes) const {
  Framing framing;
  Cursor cursor(bytes);
  try {
    while (!cursor.atEnd()) {
      framing.requests.push_back(readRequest(cursor));
      if (framing.requests.back().closes) break;
    }
  } catch (const Incomplete&) {
  } catch (const FramingRefusal& refusal) {
    framing.refusal = refusal;
  }
  return framing;
}

FramedRequest StrictFraming::readRequest(Cursor& cursor) const {
  FramedRequest request;
  HeaderBudget budget;
  readRequestLine(cursor, request);
  const auto fields = readFields(cursor, budget);
  if (fields.hosts.size() > 1) cursor.refuse("several Hosts");
  if (fields.hosts.empty() && request.isHttp11) cursor.refuse("no Host");
  const auto chunked = isChunked(fields, request.isHttp11);
  if (!chunked) cursor.refuse("Transfer-Encoding");
  const auto length = *chunked ? std::size_t{0} : bodyLength(fields);
  if (!length) cursor.refuse("Content-Length");
  if (*length > maxBody_) cursor.refuse("the body is too large");
  if (!fields.expectation.empty() && fields.expectation != "100-continue") cursor.refuse("Expect");
  request.closes = closes(fields, request.isHttp11);
  request.body = *chunked ? readChunks(cursor, budget) : std::string(cursor.take(*length));
  request.end = cursor.position();
  return request;
}

// RFC 9112, 3
void StrictFraming::readRequestLine(Cursor& cursor, FramedRequest& request) const {
  const auto line = cursor.line(kMaxMethod + 1 + kMaxRequestLine, "the request line is too long");
  const auto first = line.find(' ');
  if (first == std::string_view::npos) cursor.refuse("no method");
  const auto second = line.find(' ', first + 1);
  if (second == std::string_view::npos) cursor.refuse("no target");
  request.method = line.substr(0, first);
  request.target = line.substr(first + 1, second - first - 1);
  const auto version = line.substr(second + 1);
  if (!isToken(request.method) || request.method.size() > kMaxMethod) cursor.refuse("method");
  if (line.size() - first - 1 > kMaxRequestLine) cursor.refuse("the request line is too long");
  if (request.target.empty() || !isText(request.target) ||
      request.target.find('\t') != std::string::npos)
    cursor.refuse("target");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") cursor.refuse("version");
  request.isHttp11 = version == "HTTP/1.1";
}

// RFC 9112, 5
StrictFraming::Fields StrictFraming::readFields(Cursor& cursor, HeaderBudget& budget) const {
  Fields fields;
  while (true) {
    const auto line = cursor.line(
        static_cast<std::ptrdiff_t>(kMaxHeaderBytes) - static_cast<std::ptrdiff_t>(budget.bytes),
        "the headers are too large");
    if (line.empty()) return fields;
    budget.bytes += line.size() + 2;
    if (++budget.lines > kMaxHeaderLines) cursor.refuse("too many header lines");
    // A folded line begins with a space and is no name, nor is a name with a space before the
    // colon.
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) cursor.refuse("a header line without a colon");
    if (!isFieldName(line.substr(0, colon))) cursor.refuse("the name of a header");
    if (!isFieldValue(line.substr(colon + 1))) cursor.refuse("the value of a header");
    const auto name = lowered(trimmed(line.substr(0, colon)));
    const auto value = trimmed(line.substr(colon + 1));
    if (name == "content-length") fields.contentLengths.emplace_back(value);
    if (name == "transfer-encoding") fields.transferEncodings.emplace_back(value);
    if (name == "host") fields.hosts.emplace_back(value);
    if (name == "expect") fields.expectation = lowered(value);
    if (name == "connection")
      for (auto& option : members(value)) fields.connectionOptions.push_back(std::move(option));
  }
}

// RFC 9112, 7.1; trailers are checked like headers and mean nothing.
std::string StrictFraming::readChunks(Cursor& cursor, HeaderBudget& budget) const {
  std::string body;
  while (true) {
    const auto size = chunkSize(cursor.line(kMaxChunkLine, "the chunk's line is too long"));
    if (!size) cursor.refuse("the size of a chunk");
    if (*size > maxBody_ - body.size()) cursor.refuse("the body is too large");
    if (*size == 0) break;
    body += cursor.take(*size);
    if (cursor.take(2) != "\r\n") cursor.refuse("the end of a chunk");
  }
  readFields(cursor, budget);
  return body;
}

bool StrictFraming::isFieldName(std::string_view name) const {
  return isToken(name);
}

bool StrictFraming::isFieldValue(std::string_view value) const {
  return isText(value);
}

// RFC 9112, 6.3
std::optional<std::size_t> StrictFraming::bodyLength(const Fields& fields) const {
  if (fields.contentLengths.empty()) return 0;
  const auto& value = fields.contentLengths.front();
  if (fields.contentLengths.size() > 1 || value.empty() || value.size() > 19 ||
      !std::all_of(value.begin(), value.end(), isDigit))
    return std::nullopt;
  return number(value, 10);
}

// RFC 9112, 6.1
std::optional<bool> StrictFraming::isChunked(const Fields& fields, bool isHttp11) const {
  if (fields.transferEncodings.empty()) return false;
  if (fields.transferEncodings.size() > 1 || !fields.contentLengths.empty() || !isHttp11 ||
      lowered(fields.transferEncodings.front()) != "chunked")
    return std::nullopt;
  return true;
}

std::optional<std::size_t> StrictFraming::chunkSize(std::string_view line) const {
  const auto digits = static_cast<std::size_t>(
      std::find_if_not(line.begin(), line.end(), isHexDigit) - line.begin());
  const auto extension = line.substr(digits);
  if (digits == 0 || digits > 16) return std::nullopt;
  if (!extension.empty() && (extension.front() != ';' || !isText(extension))) return std::nullopt;
  return number(line.substr(0, digits), 16);
}

// RFC 9112, 9.3
bool StrictFraming::closes(const Fields& fields, bool isHttp11) const {
  const auto has = [&](const char* option) {
    return std::find(fields.connectionOptions.begin(), fields.connectionOptions.end(), option) !=
           fields.connectionOptions.end();
  };
  return has("close") || (!isHttp11 && !has("keep-alive"));
}

}  // namespace festa::test
