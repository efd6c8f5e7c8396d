// What a reader has not taken of what was sent to it.
#pragma once

#include <cstddef>

namespace festa {

// Compares what was handed over to a connection with what the connection says that it has sent.
// Bytes that frame the chunks are sent and were not handed over; so that they do not add up, it
// counts anew whenever the reader has taken everything. Not thread-safe.
class UnsentBytes {
 public:
  explicit UnsentBytes(std::size_t sentSoFar) : sentBefore_(sentSoFar) {}

  void handOver(std::size_t bytes, std::size_t sentSoFar) {
    if (sentSoFar - sentBefore_ >= handedOver_) {
      sentBefore_ = sentSoFar;
      handedOver_ = 0;
    }
    handedOver_ += bytes;
  }
  std::size_t unsent(std::size_t sentSoFar) const {
    const auto sent = sentSoFar - sentBefore_;
    return handedOver_ > sent ? handedOver_ - sent : 0;
  }

 private:
  std::size_t sentBefore_;
  std::size_t handedOver_ = 0;  // since then
};

}  // namespace festa
