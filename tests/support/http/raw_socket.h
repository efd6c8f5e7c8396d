// A client that speaks to the raw socket, without a thought for HTTP.
#pragma once

#include "tests/support/http/http.h"

#include <chrono>
#include <string>
#include <vector>

namespace festa::test {

// One connection to 127.0.0.1. Not thread-safe. Throws std::runtime_error when it cannot connect.
class RawSocket {
 public:
  explicit RawSocket(int port) : RawSocket(port, 0) {}
  // For which the kernels keep little between sender and reader: about `window` bytes; 0: as usual.
  RawSocket(int port, int window);
  ~RawSocket();
  RawSocket(RawSocket&& other) noexcept;
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  // All of it, or false: the peer has closed, or takes nothing within the patience.
  bool send(const std::string& bytes,
            std::chrono::milliseconds patience = std::chrono::seconds(10));
  // As much as the peer takes without waiting; how much that was.
  std::size_t sendSome(const std::string& bytes);
  // Closes the sending half: the peer reads the end, and may still answer.
  void finishSending();
  // Ends the connection with a reset; nothing can be sent or read afterwards.
  void reset();

  // Everything until the peer closes; what has come when it does not within the patience.
  std::string readAll(std::chrono::milliseconds patience = std::chrono::seconds(10));
  // Until the text has come that often in all.
  bool readUntil(const std::string& text, int times, std::chrono::milliseconds patience);
  // Takes what has come, without waiting, and does not keep it; how many bytes that were.
  std::size_t skip();
  // The peer has closed, and everything was read.
  bool isClosed() const { return closed_; }
  const std::string& received() const { return received_; }

 private:
  bool receive(int timeoutMs);

  int socket_ = -1;
  bool closed_ = false;
  std::string received_;
};

// The bytes of a request of HTTP/1.1, its body being JSON unless it is empty.
std::string requestBytes(const std::string& method, const std::string& path, const Headers& headers,
                         const std::string& body = "");

// The answers of a connection, in their order: those that came as a whole, with a length.
std::vector<Response> answersIn(std::string received);

// How often `part` is in `text`.
int occurrences(const std::string& text, const std::string& part);

// Sends so many requests for health and for a list over one connection without waiting, reads all
// the while, and returns how many were answered with 200.
int answersToPipelined(int port, int requests);

}  // namespace festa::test
