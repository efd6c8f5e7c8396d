// Where the requests of a connection begin and end, read as RFC 9112 says and as strictly as it
// permits: the reference that the server's reader is compared with. Written to be read beside the
// RFC: it sees all bytes at once, keeps no state between calls and takes no short cuts. It shares
// no code with Drogon.
//
// What the RFC leaves open is decided as for the service:
// - a line ends with CRLF; CR, LF, NUL and other control characters are nowhere else in it;
// - there is no empty line before a request (a server may ignore one, 2.2);
// - methods are tokens of at most 20 characters; the target is not looked into; versions are 1.0
// and 1.1;
// - one Content-Length with 1 to 19 digits; equal ones, twice or in a list, are refused (6.3
// permits either);
// - Transfer-Encoding is "chunked" in any case, once, alone, in HTTP/1.1 only;
// - exactly one Host, in HTTP/1.0 at most one;
// - chunk sizes are 1 to 16 hexadecimal digits; extensions begin with ';' right behind them and are
// ignored; the line is at
//   most 256 bytes long;
// - headers and trailers of a request are at most 100 lines and 64 KiB together, and so is the rest
// of the request line;
// - an expectation other than "100-continue" is refused (RFC 9110, 10.1.1); of several lines the
// last counts;
// - nothing is read behind a request that ends its connection (9.3, 9.6).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace festa::test {

struct FramedRequest {
  std::string method;
  std::string target;
  bool isHttp11 = true;
  std::string body;
  // It is the last one of its connection.
  bool closes = false;
  // So many bytes of the connection are needed to have it.
  std::size_t end = 0;
};

struct FramingRefusal {
  std::string reason;
  // So many bytes of the connection are needed to know it.
  std::size_t at = 0;
};

struct Framing {
  std::vector<FramedRequest> requests;
  // What comes behind them is no request. Without a refusal it may become one.
  std::optional<FramingRefusal> refusal;
};

class StrictFraming {
 public:
  static constexpr std::size_t kMaxHeaderBytes = 64 * 1024;
  static constexpr std::size_t kMaxHeaderLines = 100;
  static constexpr std::size_t kMaxRequestLine = 64 * 1024;
  static constexpr std::size_t kMaxMethod = 20;
  static constexpr std::size_t kMaxChunkLine = 256;

  explicit StrictFraming(std::size_t maxBody) : maxBody_(maxBody) {}
  virtual ~StrictFraming() = default;

  Framing read(std::string_view bytes) const;

  // The header lines that say where a request ends, in order.
  struct Fields {
    std::vector<std::string> contentLengths;
    std::vector<std::string> transferEncodings;
    std::vector<std::string> hosts;
    std::vector<std::string> connectionOptions;
    std::string expectation;
  };

 protected:
  // The rules that readers are known to differ in. Tests override one to see that the comparison
  // notices.
  virtual bool isFieldName(std::string_view name) const;
  virtual bool isFieldValue(std::string_view value) const;
  // How long the body is; nullopt: refused. Called without Transfer-Encoding.
  virtual std::optional<std::size_t> bodyLength(const Fields& fields) const;
  // Whether the body comes in chunks; nullopt: refused.
  virtual std::optional<bool> isChunked(const Fields& fields, bool isHttp11) const;
  // nullopt: the line is no beginning of a chunk.
  virtual std::optional<std::size_t> chunkSize(std::string_view line) const;
  virtual bool closes(const Fields& fields, bool isHttp11) const;

 private:
  class Cursor;
  struct HeaderBudget;

  FramedRequest readRequest(Cursor& cursor) const;
  void readRequestLine(Cursor& cursor, FramedRequest& request) const;
  Fields readFields(Cursor& cursor, HeaderBudget& budget) const;
  std::string readChunks(Cursor& cursor, HeaderBudget& budget) const;

  std::size_t maxBody_;
};

}  // namespace festa::test
