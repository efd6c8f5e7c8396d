// Whether a reader takes what is sent to it.
#pragma once

#include <cstddef>

namespace festa {

// Compares what was handed over to a connection with what the connection says that it has sent.
// Bytes that frame the chunks are sent and were not handed over; so that they do not add up, it
// counts anew whenever the reader has taken everything. Not thread-safe.
class UnsentBytes {
 public:
  // More than this has been handed over and not been sent: the reader is behind.
  static constexpr std::size_t kMost = 16UL * 1024;

  explicit UnsentBytes(std::size_t sentSoFar) : sentBefore_(sentSoFar) {}

  void handOver(std::size_t bytes, std::size_t sentSoFar) {
    if (sentSoFar - sentBefore_ >= handedOver_) {
      sentBefore_ = sentSoFar;
      handedOver_ = 0;
    }
    handedOver_ += bytes;
  }
  bool isBehind(std::size_t sentSoFar) const {
    return handedOver_ > sentSoFar - sentBefore_ + kMost;
  }

 private:
  std::size_t sentBefore_;
  std::size_t handedOver_ = 0;  // since then
};

}  // namespace festa
