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
// SHUTTING_DOWN) → kClosing (new connections are closed before anything is read from them).
// Thread-safe.
class Drain {
 public:
  enum class Stage { kServing, kUnready, kRefusing, kClosing };

  // One request in flight, from the moment it was read until it and its answer are done with.
  class InFlight {
   public:
    explicit InFlight(std::shared_ptr<Drain> drain);
    ~InFlight();
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    // Nothing is done for it but to answer SHUTTING_DOWN. Once, by the thread that made it.
    void refuse();

   private:
    const std::shared_ptr<Drain> drain_;
    bool isRefused_ = false;
  };

  Stage stage() const { return stage_; }
  void enter(Stage stage) { stage_ = stage; }
  // New requests are refused.
  bool isRefusing() const { return stage() >= Stage::kRefusing; }
  // Refused ones included.
  std::int64_t inFlight() const { return served_ + refused_; }

  // An answer that closes this connection is on its way out.
  void watch(std::weak_ptr<trantor::TcpConnection> connection);

  // At stage kRefusing. Waits until no request is served, enters kClosing, and waits until the
  // refused ones are answered and the bytes of every watched connection are out. Both waits end at
  // the limit. True: all done. A crowd that keeps coming back cannot prolong it: before kClosing
  // its refusals are not waited for, and after it each connection is closed with its next answer.
  bool awaitQuiet(std::chrono::milliseconds limit);

 private:
  // Watched connections whose bytes are not out; the others are forgotten.
  std::size_t closing();
  bool isQuiet();

  std::atomic<Stage> stage_{Stage::kServing};
  // A request that is refused is counted in refused_ before it leaves served_.
  std::atomic<std::int64_t> served_{0};
  std::atomic<std::int64_t> refused_{0};
  std::mutex mutex_;
  struct Closing {
    std::weak_ptr<trantor::TcpConnection> connection;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<Closing> closing_;  // guarded by mutex_
};

}  // namespace festa
