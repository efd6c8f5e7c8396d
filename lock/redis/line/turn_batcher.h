// What one event loop says in one turn, together.
#pragma once

#include <trantor/net/EventLoop.h>

#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace festa::lock {

// Collects items per event loop. They go out together once all that is queued on the loop has run,
// so that a crowd costs few calls; `enough` items do not wait for more. Thread-safe. The sender
// outlives the batcher, and the batcher the event loops on which it is used.
template <class Item>
class TurnBatcher {
 public:
  class Sender {
   public:
    // Called on the loop on which the items were said, in that order; never with none.
    virtual void sendTurn(std::vector<Item> items) = 0;

   protected:
    ~Sender() = default;
  };

  TurnBatcher(Sender& sender, std::size_t enough) : sender_(sender), enough_(enough) {}

  // On an event loop's thread.
  void say(Item item) {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    const std::lock_guard guard(mutex_);
    auto& turn = turns_[loop];
    turn.push_back(std::move(item));
    if (turn.size() == 1) loop->queueInLoop([this, loop] { endTurn(loop, 1); });
  }

 private:
  // `seen`: how many there were at the last look.
  void endTurn(trantor::EventLoop* loop, std::size_t seen) {
    std::vector<Item> items;
    {
      const std::lock_guard guard(mutex_);
      auto& turn = turns_[loop];
      const auto size = turn.size();
      if (size > seen && size < enough_) {
        loop->queueInLoop([this, loop, size] { endTurn(loop, size); });
        return;
      }
      items.swap(turn);
    }
    sender_.sendTurn(std::move(items));
  }

  Sender& sender_;
  const std::size_t enough_;
  std::mutex mutex_;
  std::unordered_map<trantor::EventLoop*, std::vector<Item>> turns_;  // guarded by mutex_
};

}  // namespace festa::lock
