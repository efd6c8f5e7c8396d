// A connection to Drogon's HTTP server without a socket: the server's own callbacks get the bytes,
// and every request that it hands over is answered at once and kept. So what is tried is the parser
// and the server's loop around it: where the next request begins, pauses after 16 requests,
// refusals.
//
// One thread may use it, one connection at a time; it registers its advices with drogon::app() and
// never runs it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace festa::test {

struct ReadRequest {
  // Empty: one that Drogon does not know.
  std::string method;
  // Path and query as they were sent.
  std::string target;
  bool isHttp11 = true;
  std::string body;
};

class DrogonConnection {
 public:
  static constexpr std::size_t kMaxBody = 1000;

  DrogonConnection();
  ~DrogonConnection();
  DrogonConnection(const DrogonConnection&) = delete;
  DrogonConnection& operator=(const DrogonConnection&) = delete;

  void receive(std::string_view piece);
  // The client sends nothing more.
  void endInput();

  const std::vector<ReadRequest>& requests() const { return requests_; }
  // The status with which the parser refused what came last.
  std::optional<int> refusal() const { return refusal_; }
  // The server has not ended it.
  bool isOpen() const;
  // How many answers were sent, without "100 Continue".
  std::size_t answers() const;

 private:
  class Wire;

  static void prepareServer();

  // The one whose bytes are being read.
  static DrogonConnection* current;

  std::shared_ptr<Wire> wire_;
  std::vector<ReadRequest> requests_;
  std::optional<int> refusal_;
};

}  // namespace festa::test
