// Stopping without dropping a request.
#pragma once

#include <trantor/net/TcpConnection.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace festa {

// kServing → kUnready (readiness fails, requests are served) → kRefusing (new requests get
// SHUTTING_DOWN). Thread-safe.
class Drain : public std::enable_shared_from_this<Drain> {
 public:
  enum class Stage { kServing, kUnready, kRefusing };

  // One request in flight, from the moment it was read until it and its answer are done with.
  class InFlight {
   public:
    explicit InFlight(std::shared_ptr<Drain> drain);
    ~InFlight();
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

   private:
    const std::shared_ptr<Drain> drain_;
  };

  Stage stage() const { return stage_.load(std::memory_order_relaxed); }
  void enter(Stage stage) { stage_.store(stage, std::memory_order_relaxed); }
  std::int64_t inFlight() const { return inFlight_.load(std::memory_order_relaxed); }

  // An answer that closes this connection is on its way out.
  void watch(std::weak_ptr<trantor::TcpConnection> connection);

  // Waits until nothing is in flight and the bytes of every watched connection are out, or until
  // the limit. True: all done.
  bool awaitQuiet(std::chrono::milliseconds limit);

 private:
  bool isQuiet();

  std::atomic<Stage> stage_{Stage::kServing};
  std::atomic<std::int64_t> inFlight_{0};
  std::mutex mutex_;
  struct Closing {
    std::weak_ptr<trantor::TcpConnection> connection;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Closing> closing_;  // guarded by mutex_
};

}  // namespace festa
