// The people of a race: each has a connection of their own to the service's door.
#pragma once

#include "app/lab/race/race_record.h"

#include <drogon/HttpClient.h>
#include <trantor/net/EventLoop.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

namespace festa {

// Where the crowd goes: the service itself, or the proxy before its instances.
struct RaceDoor {
  std::string host;
  std::uint16_t port;
};

// Used by one thread that is not the loop's, and which may be blocked.
class RaceCrowd {
 public:
  // `loop` runs and outlives this.
  RaceCrowd(trantor::EventLoop* loop, RaceDoor door, std::size_t people);
  ~RaceCrowd();
  RaceCrowd(const RaceCrowd&) = delete;
  RaceCrowd& operator=(const RaceCrowd&) = delete;

  // Every person connects and gets one answer, so that the race measures no connecting. Throws
  // std::runtime_error when the door does not answer.
  void gather();

  // Every person sends their request when the race's plan says so; what they sent and were answered
  // is recorded. Returns when all have been answered or their time is over. `headers` are of all
  // requests. A person whose request was queued (202) asks
  // for its outcome until it is known, and is answered then.
  void run(RaceRecord& race, const std::vector<RaceRequest>& requests,
           const std::vector<std::pair<std::string, std::string>>& headers);

  // Requests that are not sent yet will not be sent. On any thread.
  void cancel() { isCancelled_ = true; }
  bool isCancelled() const { return isCancelled_; }

 private:
  struct Run;
  struct Pending;

  void send(Run& run, std::size_t person);
  void received(Pending pending, drogon::ReqResult result, const drogon::HttpResponsePtr& response);
  void askForOutcome(Pending pending);

  trantor::EventLoop* const loop_;
  std::vector<drogon::HttpClientPtr> clients_;  // by person; used on the loop
  std::atomic<bool> isCancelled_{false};
};

}  // namespace festa
