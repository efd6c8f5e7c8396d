// The process behind lock_worker.h.
#include "tests/support/history/history.h"
#include "tests/support/lock/storages.h"

#include <trantor/utils/Logger.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;
using lock::SteadyClock;
using lock::Unlocked;

struct Request {
  std::string id;
  std::string who;  // in the history: unique over all processes
  lock::LockRequest wish;
};

// A command and its loop have a copy each.
struct Held {
  Held(Request asker, Lease granted, lock::SteadyTime sent, lock::SteadyTime when)
      : request(std::move(asker)),
        lease(std::move(granted)),
        fence(lease.fence),
        asked(sent),
        at(when) {}
  Held(const Held& other)
      : request(other.request),
        lease(other.lease.clone()),
        fence(other.fence),
        asked(other.asked),
        at(other.at) {}
  Held& operator=(Held&&) = default;

  Request request;
  Lease lease;
  std::int64_t fence;  // of the grant
  lock::SteadyTime asked;
  lock::SteadyTime at;
};

// Reads commands on one thread and carries them out on loops.
class Worker {
 public:
  Worker(std::shared_ptr<lock::LockStorage> storage, Loops& loops)
      : storage_(std::move(storage)), loops_(loops) {}

  // false: it was told to end.
  bool obey(const std::string& line) {
    std::istringstream words(line);
    const auto verb = word(words);
    if (verb == "quit") return false;
    const auto subject = word(words);
    if (verb == "lock")
      startLock(subject, wishOf(words));
    else if (verb == "many")
      startMany(std::stoi(subject), wishOf(words));
    else if (verb == "unlock")
      startUnlock(subject);
    else if (verb == "extend")
      startExtend(subject, millis(words));
    else if (verb == "stats")
      say("stats " + subject + " " + std::to_string(waiting_) + " " + std::to_string(holding_));
    else if (verb == "time")
      say("time " + subject + " " + std::to_string(std::time(nullptr)));
    else
      throw std::invalid_argument("not a command: " + line);
    return true;
  }

  void say(const std::string& line) {
    const auto text = line + "\n";
    const std::lock_guard guard(output_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

 private:
  static std::string word(std::istream& words) {
    std::string word;
    if (!(words >> word)) throw std::invalid_argument("a word is missing");
    return word;
  }
  static Millis millis(std::istream& words) { return Millis{std::stoll(word(words))}; }
  static lock::LockRequest wishOf(std::istream& words) {
    const auto key = word(words);
    const auto wait = millis(words);
    const auto lease = millis(words);
    return {key, wait, lease, std::stoul(word(words))};
  }

  // Loop 0 is left to timers.
  trantor::EventLoop* nextLoop() { return loops_.at(1 + next_++ % (loops_.size() - 1)); }
  Request requestOf(const std::string& id, const lock::LockRequest& wish) {
    return {id, std::to_string(getpid()) + "." + std::to_string(++requests_), wish};
  }

  void startLock(const std::string& id, const lock::LockRequest& wish) {
    nextLoop()->queueInLoop([this, request = requestOf(id, wish)] { takeAndKeep(request); });
  }
  void startMany(int count, const lock::LockRequest& wish) {
    for (int i = 0; i < count; ++i) {
      const auto request = requestOf("n" + std::to_string(many_++), wish);
      nextLoop()->queueInLoop([this, request] { takeAndGiveBack(request); });
    }
  }
  void startUnlock(const std::string& id) {
    const std::lock_guard guard(mutex_);
    const auto held = held_.extract(id);
    if (held.empty()) throw std::invalid_argument("nothing is held as " + id);
    nextLoop()->queueInLoop([this, hold = held.mapped()] { giveBackOnly(hold); });
  }
  void startExtend(const std::string& id, Millis lease) {
    const std::lock_guard guard(mutex_);
    nextLoop()->queueInLoop([this, held = held_.at(id), lease] { prolong(held, lease); });
  }

  // Says why when there is no lease.
  drogon::Task<std::optional<Held>> take(Request request) {
    std::optional<Lease> lease;
    std::string failure;
    ++waiting_;
    const auto asked = SteadyClock::now();
    try {
      lease = co_await storage_->tryLock(request.wish);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const auto at = SteadyClock::now();
    --waiting_;
    if (lease) {
      ++holding_;
      co_return Held(request, std::move(*lease), asked, at);
    }
    say(failure.empty() ? "busy " + request.id : "failed " + request.id + " " + failure);
    co_return std::nullopt;
  }

  drogon::Task<> giveBack(Held held) {
    const auto sent = SteadyClock::now();
    const auto how = co_await storage_->unlock(held.lease.clone());
    --holding_;
    const auto end = how == Unlocked::kReleased ? History::End::kReleased
                     : how == Unlocked::kLost   ? History::End::kLost
                                                : History::End::kExpired;
    record([&](History& history) {
      history.ended(held.lease.key, held.request.who, held.fence,
                    std::min(sent, held.lease.validUntil), end);
    });
    say("unlocked " + held.request.id +
        (how == Unlocked::kReleased ? " released"
         : how == Unlocked::kLost   ? " lost"
                                    : " unknown"));
  }

  drogon::AsyncTask takeAndKeep(Request request) {
    const auto held = co_await take(request);
    if (!held) co_return;
    {
      const std::lock_guard guard(mutex_);
      held_.insert_or_assign(request.id, Held(*held));
    }
    announce(*held);
  }

  drogon::AsyncTask takeAndGiveBack(Request request) {
    const auto held = co_await take(request);
    if (!held) co_return;
    announce(*held);
    co_await giveBack(*held);
  }

  drogon::AsyncTask giveBackOnly(Held held) { co_await giveBack(held); }

  drogon::AsyncTask prolong(Held held, Millis lease) {
    lock::Extension longer;
    longer.lease = lease;
    try {
      const bool ours = co_await storage_->extend(held.lease, longer);
      if (ours) {
        const std::lock_guard guard(mutex_);
        held_.insert_or_assign(held.request.id, Held(held));
      }
      say((ours ? "extended " : "lost ") + held.request.id);
    } catch (const std::exception& error) {
      say("failed " + held.request.id + " " + error.what());
    }
  }

  void announce(const Held& held) {
    record([&](History& history) {
      history.arrived(held.lease.key, held.request.who, held.asked, held.lease.received);
    });
    record([&](History& history) {
      const auto& company = held.lease.company;
      history.granted(held.lease.key, held.request.who, held.fence, held.at,
                      company ? company->id() : "");
    });
    const std::chrono::nanoseconds at = held.at.time_since_epoch();
    say("granted " + held.request.id + " " + std::to_string(held.fence) + " " +
        std::to_string(at.count()));
  }

  template <class Tell>
  void record(const Tell& tell) {
    History event;
    tell(event);
    auto line = event.text();
    line.pop_back();
    say("history " + line);
  }

  const std::shared_ptr<lock::LockStorage> storage_;
  Loops& loops_;
  // of the thread that reads commands
  std::size_t next_ = 0;
  int requests_ = 0;
  int many_ = 0;
  std::mutex output_;
  std::mutex mutex_;
  std::map<std::string, Held> held_;  // by id; guarded by mutex_
  std::atomic<std::size_t> waiting_{0};
  std::atomic<std::size_t> holding_{0};
};

StorageOptions optionsOf(const std::vector<std::string>& arguments) {
  StorageOptions options;
  // Nothing is tested here with servers that do not answer, but many processes on few cores.
  options.patience = Millis{5000};
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const auto& name = arguments[i];
    const auto& value = arguments[i + 1];
    if (name == "--storage")
      options.name = value;
    else if (name == "--port")
      options.ports.push_back(std::stoi(value));
    else if (name == "--prefix")
      options.prefix = value;
    else if (name == "--epochs")
      options.epochs = epochsFrom(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  return options;
}

}  // namespace

}  // namespace festa::test

int main(int argc, char** argv) {
  using namespace festa::test;
  trantor::Logger::setLogLevel(trantor::Logger::kWarn);
  trantor::Logger::setOutputFunction(
      [](const char* text, std::uint64_t size) { std::fwrite(text, 1, size, stderr); },
      [] { std::fflush(stderr); });
  try {
    // Never destroyed: the loops run to the end of the program.
    static auto& loops = *new Loops(4);
    static auto& worker =
        *new Worker(makeStorage(optionsOf({argv + 1, argv + argc}), loops), loops);
    worker.say("ready ready");
    std::string line;
    while (std::getline(std::cin, line) && worker.obey(line)) {
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  return 0;
}
