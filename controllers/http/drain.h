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
    // `connection`: that it came over; empty: none.
    explicit InFlight(std::shared_ptr<Drain> drain,
                      std::weak_ptr<trantor::TcpConnection> connection = {});
    ~InFlight();
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    // Nothing is done for it but to answer SHUTTING_DOWN. Once, by the thread that made it.
    void refuse();
    // Its answer is handed to its connection; not called when that has ended before. It is sent
    // behind the answers to earlier requests; a connection that ends before drops both.
    void answer() { isAnswered_ = true; }

   private:
    bool hasLostConnection() const;

    const std::shared_ptr<Drain> drain_;
    const std::weak_ptr<trantor::TcpConnection> connection_;
    const bool hasConnection_;
    bool isRefused_ = false;
    bool isAnswered_ = false;
  };

  Stage stage() const { return stage_; }
  void enter(Stage stage) { stage_ = stage; }
  // New requests are refused.
  bool isRefusing() const { return stage() >= Stage::kRefusing; }
  // Refused ones included.
  std::int64_t inFlight() const { return served_ + refused_; }

  // The connection ends, or will end with its last answer. What was written to it is waited for;
  // kCloses: and for a second that its peer closes, because a reset that answers what the peer
  // still sends would take the answer with it.
  enum class Peer { kCloses, kMayStay };
  void watch(std::weak_ptr<trantor::TcpConnection> connection, Peer peer);

  // At stage kRefusing. Waits until no request is served, at most until the deadline, and enters
  // kClosing. A crowd that keeps coming back cannot prolong it: its refusals are not waited for.
  void awaitServed(std::chrono::steady_clock::time_point deadline);
  // At stage kClosing, where each connection is closed with its next answer. Waits until the
  // refused requests are answered and the bytes of every watched connection are out, at most until
  // the deadline. Returns how many requests were read and not answered since kServing; 0: all done.
  std::int64_t awaitQuiet(std::chrono::steady_clock::time_point deadline);

 private:
  // Watched connections whose bytes are not out; the others are forgotten.
  std::int64_t closing();
  bool isQuiet();

  std::atomic<Stage> stage_{Stage::kServing};
  // A request that is refused is counted in refused_ before it leaves served_.
  std::atomic<std::int64_t> served_{0};
  std::atomic<std::int64_t> refused_{0};
  std::atomic<std::int64_t> lost_{0};  // ended without an answer, since kServing
  std::mutex mutex_;
  struct Closing {
    std::weak_ptr<trantor::TcpConnection> connection;
    std::chrono::steady_clock::time_point waitsUntil;  // for its peer
  };
  std::vector<Closing> closing_;  // guarded by mutex_
};

}  // namespace festa
