// What event streams may take of this process: per stream, per address and in all.
#pragma once

#include "controllers/http/client_address.h"

#include <drogon/HttpRequest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace festa {

// What a reader has not taken of what was sent to it: compares what was handed over to a connection
// with what the connection says that it has sent. Bytes that frame the chunks are sent and were not
// handed over; so that they do not add up, it counts anew whenever the reader has taken everything.
// Not thread-safe.
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

// The connection of a stream, as far as its bounds need it. Thread-safe.
class StreamConnection {
 public:
  virtual ~StreamConnection() = default;
  // Bytes that have gone to the kernel so far.
  virtual std::size_t sent() const = 0;
  // At once, with what is not sent.
  virtual void close() = 0;
};

// One rule for all streams of a process. A reader is behind when it has left too much of what its
// stream was given, or when its address or all readers together have: until they have taken it,
// nothing is given to a stream, so what is kept for readers exceeds the bounds by one event at
// most. Pages of what a reader has missed are given only up to half of what an address and all may
// leave, so that those who come back do not delay what is new. Streams that have left something
// untaken for kPatience are closed while such a bound is reached, the largest first: readers that
// read do not wait for those that do not. Thread-safe.
class StreamBounds : public std::enable_shared_from_this<StreamBounds> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kPatience{2};
  // Looking at all streams takes about a millisecond for thousands of them.
  static constexpr std::chrono::milliseconds kLookEvery{50};

  struct Limits {
    std::size_t streamsPerAddress = 0;  // 0: no limit
    std::size_t unsentPerStream = 16UL * 1024;
    std::size_t unsentPerAddress = 16UL * 1024 * 1024;
    std::size_t unsentInAll = 64UL * 1024 * 1024;
    // Whose X-Forwarded-For is believed. Streams of a proxy that names no client count for no
    // address.
    std::vector<AddressRange> proxies = {};
  };

  explicit StreamBounds(Limits limits) : limits_(std::move(limits)) {}

  class Stream;
  // A stream of this address; "": of none. Throws ServiceError(kRateLimited) when the address has
  // too many.
  std::unique_ptr<Stream> open(const std::string& address);
  // The address under which a request's stream counts.
  std::string addressOf(const drogon::HttpRequest& request) const;

  std::size_t unsent() const;
  std::uint64_t closed() const;

 private:
  struct Address {
    std::size_t streams = 0;
    std::size_t unsent = 0;
  };
  using Closing = std::vector<std::unique_ptr<StreamConnection>>;

  // Callers hold mutex_.
  void recount(Stream& stream, Time now);
  void count(Stream& stream, std::size_t unsent);
  // What the address or all have left is above the bound divided by `parts`.
  bool isFull(const Stream& stream, std::size_t parts) const;
  Closing closeUntaken(std::size_t parts, Time now);

  const Limits limits_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::unordered_map<std::string, Address> addresses_;  // that have a stream
  std::unordered_set<Stream*> streams_;
  std::size_t unsent_ = 0;  // the sum of streams_, as they were last counted
  std::uint64_t closed_ = 0;
  Time lastLook_{};  // at all streams
};

// One event stream, from its request to its end. Thread-safe.
class StreamBounds::Stream {
 public:
  Stream(std::shared_ptr<StreamBounds> bounds, const std::string& address);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Once, when its headers are sent; handOver() and isBehind() follow.
  void begin(std::unique_ptr<StreamConnection> connection);
  // So many bytes are given to the connection.
  void handOver(std::size_t bytes, Time now = std::chrono::steady_clock::now());
  bool isBehind(Time now = std::chrono::steady_clock::now());
  // It is not behind, and much may be given to it at once.
  bool takesPages(Time now = std::chrono::steady_clock::now());
  // It has left too much itself, whatever others do.
  bool isOverfull() const;
  // 1 divided by the number of streams of its address; 1 where it has no address.
  double shareOfAddress() const;

 private:
  friend class StreamBounds;

  bool isBeyond(std::size_t parts, Time now);

  const std::shared_ptr<StreamBounds> bounds_;
  // guarded by bounds_->mutex_
  std::unordered_map<std::string, Address>::pointer address_ = nullptr;  // null: it has none
  std::unique_ptr<StreamConnection> connection_;  // null: it has not begun, or was closed
  UnsentBytes bytes_{0};
  std::size_t unsent_ = 0;  // as it was last counted
  Time untakenSince_{};     // there was something whenever it was counted since then
};

}  // namespace festa
