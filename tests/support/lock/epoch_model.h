// The server's side of redis_epoch.h: what the scripts do, in C++. A test against a real server
// keeps the two alike; the simulation runs on this one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace festa::test {

class EpochModel {
 public:
  // Mistakes that a simulation must notice.
  enum class Bug {
    kNone,
    kAnyEpochIsInstalled,     // whatever happened since it was drawn
    kMarkOutlivesItsEpoch,    // is still there when another epoch has been installed
    kMarkIsOfNoServer,        // is believed when it comes back with a snapshot
    kCounterMayBeALowerCopy,  // is used as it came back with a snapshot
  };

  explicit EpochModel(Bug bug = Bug::kNone) : bug_(bug) {}

  // See markLoss() and installEpoch().
  std::string mark(const std::string& nonce, std::int64_t floor = 0) {
    if (isUsable(floor)) return "";
    if (!data_.loss || (bug_ != Bug::kMarkIsOfNoServer && !isMadeHere(*data_.loss)))
      data_.loss = here() + " " + nonce;
    return *data_.loss;
  }
  bool install(const std::string& mark, std::int64_t epoch) {
    const bool isMark = data_.loss == mark && (bug_ == Bug::kMarkIsOfNoServer || isMadeHere(mark));
    if (!isMark && bug_ != Bug::kAnyEpochIsInstalled) return false;
    if (bug_ != Bug::kMarkOutlivesItsEpoch) data_.loss.reset();
    data_.fence = std::max(data_.fence.value_or(0), epoch << 32);
    data_.home = here();
    return true;
  }

  // The next token of a process that trusts the counter; nullopt: it needs an epoch.
  std::optional<std::int64_t> take() {
    if (!isUsable(0)) return std::nullopt;
    return ++*data_.fence;
  }

  void flush() { data_ = {}; }
  void loseCounter() { data_.fence.reset(); }
  void save() { saved_ = data_; }
  // Killed; it comes back as it was saved, or empty.
  void restart() {
    ++restarts_;
    data_ = saved_;
  }

  std::optional<std::int64_t> fence() const { return data_.fence; }

 private:
  struct Data {
    std::optional<std::int64_t> fence = {};
    std::string home = {};
    std::optional<std::string> loss = {};
  };

  std::string here() const { return std::to_string(restarts_); }
  bool isMadeHere(const std::string& mark) const {
    return mark.substr(0, mark.find(' ')) == here();
  }
  bool isUsable(std::int64_t floor) const {
    const bool isHome = data_.home == here() || bug_ == Bug::kCounterMayBeALowerCopy;
    return data_.fence && *data_.fence >= floor && isHome;
  }

  const Bug bug_;
  int restarts_ = 0;
  Data data_;
  Data saved_;
};

}  // namespace festa::test
