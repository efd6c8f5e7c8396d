// A blocking HTTP client that sends exactly what it is told: half of the tests send what no library
// would.
#pragma once

#include <json/json.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace festa::test {

struct Response {
  int status = 0;                              // 0: the connection ended without an answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  Json::Value json() const;  // throws when the body is not JSON
  std::string code() const;  // `code` of a problem, or ""
  std::string header(const std::string& name) const;
};

using Headers = std::map<std::string, std::string>;

// One connection, kept alive between requests; reconnects when the server has closed it. Not
// thread-safe.
class HttpClient {
 public:
  explicit HttpClient(int port, int timeoutSeconds = 30);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Response request(const std::string& method, const std::string& path, const Headers& headers = {},
                   const std::string& body = "");
  Response get(const std::string& path, const Headers& headers = {}) {
    return request("GET", path, headers);
  }
  // Sends a JSON body with its content type.
  Response send(const std::string& method, const std::string& path, const std::string& json,
                Headers headers = {});

  // Raw bytes out; one answer back.
  Response raw(const std::string& bytes);
  void sendBytes(const std::string& bytes);
  Response readResponse(bool isHead = false);
  void disconnect();

 private:
  bool connect();
  bool fill();  // reads more bytes; false: the connection ended, as for the two below
  bool readExactly(std::size_t length, std::string& into);
  bool readChunks(std::string& into);

  const int port_;
  const int timeoutSeconds_;
  int socket_ = -1;
  std::string buffer_;
};

}  // namespace festa::test
