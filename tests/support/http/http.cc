#include "tests/support/http/http.h"

#include "tests/support/history/exchange_record.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace festa::test {

Json::Value Response::json() const {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  Json::Value value;
  std::istringstream stream(body);
  std::string errors;
  if (!Json::parseFromStream(builder, stream, &value, &errors))
    throw std::runtime_error("not JSON (" + std::to_string(status) + "): " + body);
  return value;
}

std::string Response::code() const {
  return header("content-type").starts_with("application/problem+json") ? json()["code"].asString()
                                                                        : "";
}

std::string Response::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpClient::HttpClient(int port, int timeoutSeconds)
    : port_(port), timeoutSeconds_(timeoutSeconds) {}

HttpClient::~HttpClient() {
  disconnect();
}

void HttpClient::disconnect() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  buffer_.clear();
}

bool HttpClient::connect() {
  if (socket_ >= 0) return true;
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{timeoutSeconds_, 0};
  const int on = 1;
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
  disconnect();
  return false;
}

void HttpClient::sendBytes(const std::string& bytes) {
  if (!connect()) return;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

bool HttpClient::fill() {
  char chunk[16384];
  const auto count = socket_ < 0 ? 0 : recv(socket_, chunk, sizeof chunk, 0);
  if (count <= 0) return false;
  buffer_.append(chunk, static_cast<std::size_t>(count));
  return true;
}

Response HttpClient::readResponse(bool isHead) {
  Response response;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!fill()) {
      disconnect();
      return response;
    }
  std::istringstream head(buffer_.substr(0, end));
  buffer_.erase(0, end + 4);
  std::string line;
  std::getline(head, line);
  response.status = std::stoi(line.substr(line.find(' ') + 1));
  while (std::getline(head, line)) {
    if (line.ends_with('\r')) line.pop_back();
    auto name = line.substr(0, line.find(':'));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const auto value = line.find_first_not_of(' ', name.size() + 1);
    response.headers[name] = value == std::string::npos ? "" : line.substr(value);
  }
  const auto length = isHead ? 0 : std::stoul("0" + response.header("content-length"));
  const bool isWhole = response.header("transfer-encoding") == "chunked"
                           ? readChunks(response.body)
                           : readExactly(length, response.body);
  if (!isWhole) {
    disconnect();
    return {};
  }
  if (response.header("connection") == "close") disconnect();
  return response;
}

bool HttpClient::readExactly(std::size_t length, std::string& into) {
  while (buffer_.size() < length)
    if (!fill()) return false;
  into += buffer_.substr(0, length);
  buffer_.erase(0, length);
  return true;
}

bool HttpClient::readChunks(std::string& into) {
  while (true) {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n")) == std::string::npos)
      if (!fill()) return false;
    const auto size = std::stoul(buffer_.substr(0, end), nullptr, 16);
    buffer_.erase(0, end + 2);
    std::string lineEnd;
    if (!readExactly(size, into) || !readExactly(2, lineEnd)) return false;
    if (size == 0) return true;
  }
}

Response HttpClient::raw(const std::string& bytes) {
  sendBytes(bytes);
  return readResponse();
}

Response HttpClient::request(const std::string& method, const std::string& path,
                             const Headers& headers, const std::string& body) {
  std::string bytes = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : headers) bytes += name + ": " + value + "\r\n";
  if (!body.empty() || method == "POST" || method == "PATCH" || method == "PUT")
    bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  sendBytes(bytes + "\r\n" + body);
  auto response = readResponse(method == "HEAD");
  recordExchange(method, path, body, response);
  return response;
}

Response HttpClient::send(const std::string& method, const std::string& path,
                          const std::string& json, Headers headers) {
  headers.emplace("Content-Type", "application/json");
  return request(method, path, headers, json);
}

}  // namespace festa::test
