#include "tests/support/history/history.h"

#include "lock/grant_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace festa::test {

namespace {

constexpr const char* kEnds[] = {"released", "lost", "expired"};

std::int64_t nanos(History::Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// A word without blanks for any bytes; "%" for none.
std::string wordOf(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (bytes.empty()) return "%";
  std::string word;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%')
      word += c;
    else
      word += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return word;
}

class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line), words_(line_) {}

  std::string word() {
    std::string word;
    if (!(words_ >> word)) fail();
    return word;
  }
  std::string bytes() {
    const auto escaped = word();
    std::string bytes;
    if (escaped == "%") return bytes;
    for (std::size_t i = 0; i < escaped.size(); ++i) {
      if (escaped[i] != '%') {
        bytes += escaped[i];
        continue;
      }
      if (i + 2 >= escaped.size()) fail();
      bytes += static_cast<char>(numberOf(escaped.substr(i + 1, 2), 16));
      i += 2;
    }
    return bytes;
  }
  std::int64_t number() { return numberOf(word(), 10); }
  History::Time time() { return History::Time(std::chrono::nanoseconds(number())); }
  History::End end() {
    const auto* const found = std::find(std::begin(kEnds), std::end(kEnds), word());
    if (found == std::end(kEnds)) fail();
    return static_cast<History::End>(found - std::begin(kEnds));
  }
  bool hasMore() { return !(words_ >> std::ws).eof(); }
  void finish() {
    if (hasMore()) fail();
  }
  [[noreturn]] void fail() const { throw std::invalid_argument("not an event: " + line_); }

 private:
  std::int64_t numberOf(const std::string& digits, int base) const {
    std::size_t used = 0;
    std::int64_t number = 0;
    try {
      number = std::stoll(digits, &used, base);
    } catch (const std::logic_error&) {
      fail();
    }
    if (used != digits.size()) fail();
    return number;
  }

  const std::string line_;
  std::istringstream words_;
};

template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

}  // namespace

void History::arrived(const std::string& key, const std::string& who, Time sentAt,
                      Time receivedAt) {
  add({.kind = Kind::kArrived, .key = key, .who = who, .from = sentAt, .to = receivedAt});
}

void History::granted(const std::string& key, const std::string& who, std::int64_t fence, Time at,
                      const std::string& shared) {
  add({.kind = Kind::kGranted,
       .key = key,
       .who = who,
       .fence = fence,
       .shared = shared,
       .from = at});
}

void History::ended(const std::string& key, const std::string& who, std::int64_t fence, Time at,
                    End how) {
  add({.kind = Kind::kEnded, .key = key, .who = who, .fence = fence, .from = at, .how = how});
}

void History::committed(const std::string& key, const std::string& who, std::int64_t fence,
                        const std::string& row, Time sentAt, Time acknowledgedAt) {
  add({.kind = Kind::kCommitted,
       .key = key,
       .who = who,
       .fence = fence,
       .row = row,
       .from = sentAt,
       .to = acknowledgedAt});
}

void History::answered(const std::string& who, int status, const std::string& row) {
  add({.kind = Kind::kAnswered, .who = who, .row = row, .status = status});
}

void History::add(Event event) {
  const std::lock_guard guard(mutex_);
  events_.push_back(std::move(event));
}

std::size_t History::size() const {
  const std::lock_guard guard(mutex_);
  return events_.size();
}

std::string History::lineOf(const Event& event) {
  const auto key = wordOf(event.key);
  const auto who = wordOf(event.who);
  const auto from = nanos(event.from);
  const auto to = nanos(event.to);
  switch (event.kind) {
    case Kind::kArrived: return sentence("arrived ", key, ' ', who, ' ', from, ' ', to, '\n');
    case Kind::kGranted:
      return sentence("granted ", key, ' ', who, ' ', event.fence, ' ', from,
                      event.shared.empty() ? "" : " " + wordOf(event.shared), '\n');
    case Kind::kEnded:
      return sentence("ended ", key, ' ', who, ' ', event.fence, ' ', from, ' ',
                      kEnds[static_cast<std::size_t>(event.how)], '\n');
    case Kind::kCommitted:
      return sentence("committed ", key, ' ', who, ' ', event.fence, ' ', wordOf(event.row), ' ',
                      from, ' ', to, '\n');
    case Kind::kAnswered: break;
  }
  return sentence("answered ", who, ' ', event.status, ' ', wordOf(event.row), '\n');
}

History::Event History::eventOf(std::string_view line) {
  LineReader words(line);
  const auto kind = words.word();
  Event event{.kind = Kind::kAnswered};
  if (kind != "answered") event.key = words.bytes();
  event.who = words.bytes();
  if (kind == "arrived") {
    event.kind = Kind::kArrived;
    event.from = words.time();
    event.to = words.time();
  } else if (kind == "granted") {
    event.kind = Kind::kGranted;
    event.fence = words.number();
    event.from = words.time();
    if (words.hasMore()) event.shared = words.bytes();
  } else if (kind == "ended") {
    event.kind = Kind::kEnded;
    event.fence = words.number();
    event.from = words.time();
    event.how = words.end();
  } else if (kind == "committed") {
    event.kind = Kind::kCommitted;
    event.fence = words.number();
    event.row = words.bytes();
    event.from = words.time();
    event.to = words.time();
  } else if (kind == "answered") {
    event.status = static_cast<int>(words.number());
    event.row = words.bytes();
  } else {
    words.fail();
  }
  words.finish();
  return event;
}

std::string History::text() const {
  const std::lock_guard guard(mutex_);
  std::string text;
  for (const auto& event : events_) text += lineOf(event);
  return text;
}

void History::read(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    add(eventOf(line));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

// A grant with what else is known of its request.
struct History::Hold {
  std::string who;
  std::int64_t fence;
  std::string shared;
  Time from;
  Time to = Time::max();
  std::optional<End> how = {};
  std::optional<std::pair<Time, Time>> arrival = {};  // sent, received

  // The holder learned of the grant after its lease had ended: the hold was not used, and its times
  // do not order it.
  bool isEmpty() const { return to < from; }
  std::string name() const { return sentence(who, " (fence ", fence, ")"); }
};

class History::Checker {
 public:
  Checker(const std::vector<Event>& events, const Promises& promises) : promises_(promises) {
    for (const auto& event : events)
      if (event.kind == Kind::kGranted) grant(event);
    for (const auto& event : events) {
      switch (event.kind) {
        case Kind::kGranted: break;
        case Kind::kArrived: arrive(event); break;
        case Kind::kEnded: end(event); break;
        case Kind::kCommitted: commits_[event.key].push_back(&event); break;
        case Kind::kAnswered: answer(event); break;
      }
    }
  }

  std::vector<std::string> check() && {
    checkFences();
    for (const auto& [key, holds] : holds_) {
      checkExclusion(key, holds);
      if (promises_.fifo) checkOrder(key, holds);
    }
    for (auto& [key, commits] : commits_) checkCommits(key, commits);
    checkRows();
    return std::move(broken_);
  }

 private:
  template <class... Parts>
  void report(const Parts&... parts) {
    broken_.push_back(sentence(parts...));
  }

  void grant(const Event& event) {
    auto& holds = holds_[event.key];
    if (!places_.try_emplace({event.key, event.who}, holds.size()).second)
      report("key ", event.key, ": ", event.who, " was granted twice");
    holds.push_back(
        {.who = event.who, .fence = event.fence, .shared = event.shared, .from = event.from});
  }

  Hold* holdOf(const Event& event) {
    const auto place = places_.find({event.key, event.who});
    return place == places_.end() ? nullptr : &holds_[event.key][place->second];
  }

  void arrive(const Event& event) {
    if (auto* hold = holdOf(event)) hold->arrival = {event.from, event.to};
  }

  void end(const Event& event) {
    auto* hold = holdOf(event);
    if (hold == nullptr || hold->fence != event.fence) {
      report("key ", event.key, ": ", event.who, " ended a hold with fence ", event.fence,
             " that was never granted");
    } else if (hold->how) {
      report("key ", event.key, ": the hold of ", hold->name(), " ended twice");
    } else {
      hold->to = event.from;
      hold->how = event.how;
    }
  }

  void answer(const Event& event) {
    if (!answers_.try_emplace(event.who, &event).second) report(event.who, " was answered twice");
  }

  void checkFences() {
    std::vector<const Hold*> all;
    for (const auto& [key, holds] : holds_)
      for (const auto& hold : holds) all.push_back(&hold);
    std::ranges::sort(all, {}, &Hold::fence);
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i - 1]->fence == all[i]->fence)
        report(all[i - 1]->who, " and ", all[i]->who, " hold the same fence ", all[i]->fence);
  }

  // One holder of a key: a hold, or all members of a shared one.
  struct Holder {
    std::string name;
    Time from;
    Time to;
    std::int64_t lowest;  // fence
    std::int64_t highest;
  };

  static std::vector<Holder> holdersOf(const std::vector<Hold>& holds) {
    std::vector<Holder> holders;
    std::map<std::string, std::size_t> shared;  // by id; places in holders
    for (const auto& hold : holds) {
      if (hold.isEmpty()) continue;
      const Holder one{hold.name(), hold.from, hold.to, hold.fence, hold.fence};
      const bool isNew =
          hold.shared.empty() || shared.try_emplace(hold.shared, holders.size()).second;
      if (isNew) {
        holders.push_back(one);
        continue;
      }
      auto& all = holders[shared[hold.shared]];
      all.name += " and " + one.name;
      all.from = std::min(all.from, one.from);
      all.to = std::max(all.to, one.to);
      all.lowest = std::min(all.lowest, one.lowest);
      all.highest = std::max(all.highest, one.highest);
    }
    return holders;
  }

  // In the order of their beginnings, each with the one that lasts longest and the one with the
  // largest fence among those before it.
  void checkExclusion(const std::string& key, const std::vector<Hold>& holds) {
    auto holders = holdersOf(holds);
    std::ranges::sort(holders, {}, &Holder::from);
    const Holder* longest = nullptr;
    const Holder* highest = nullptr;
    for (const auto& holder : holders) {
      if (longest != nullptr && holder.from < longest->to)
        report("key ", key, ": ", holder.name, " was granted while ", longest->name, " held it");
      if (highest != nullptr && holder.lowest < highest->highest)
        report("key ", key, ": the fence of ", holder.name, " is below that of ", highest->name,
               ", who was granted before");
      if (longest == nullptr || holder.to > longest->to) longest = &holder;
      if (highest == nullptr || holder.highest > highest->highest) highest = &holder;
    }
  }

  void checkOrder(const std::string& key, const std::vector<Hold>& holds) {
    std::vector<const Hold*> arrived;
    std::vector<lock::OrderedGrant> grants;
    for (const auto& hold : holds) {
      if (!hold.arrival) continue;
      arrived.push_back(&hold);
      grants.push_back({hold.arrival->first, hold.arrival->second, hold.fence});
    }
    for (const auto& one : lock::overtakingsIn(grants))
      report("key ", key, ": ", arrived[one.overtaken]->name(), " was received before ",
             arrived[one.by]->name(), " was sent, but granted after it");
  }

  // A was committed before B if it was acknowledged before B was sent.
  void checkCommits(const std::string& key, std::vector<const Event*>& bySent) {
    auto byAcknowledged = bySent;
    std::ranges::sort(bySent, {}, &Event::from);
    std::ranges::sort(byAcknowledged, {}, &Event::to);
    auto earlier = byAcknowledged.begin();
    const Event* highest = nullptr;
    for (const auto* commit : bySent) {
      for (; earlier != byAcknowledged.end() && (*earlier)->to < commit->from; ++earlier)
        if (highest == nullptr || (*earlier)->fence > highest->fence) highest = *earlier;
      if (highest != nullptr && highest->fence > commit->fence)
        report("key ", key, ": ", commit->who, " committed with fence ", commit->fence, " after ",
               highest->who, " had with ", highest->fence);
    }
  }

  void checkRows() {
    std::map<std::string, const Event*> rows;
    std::map<std::string, const Event*> rowOf;  // by request
    for (const auto& [key, commits] : commits_) {
      for (const auto* commit : commits) {
        const auto [row, isNew] = rows.try_emplace(commit->row, commit);
        if (!isNew) {
          report("row ", commit->row, " was stored twice, by ", row->second->who, " and ",
                 commit->who);
          continue;
        }
        const auto [first, isFirst] = rowOf.try_emplace(commit->who, commit);
        if (!isFirst)
          report(commit->who, " stored two rows, ", first->second->row, " and ", commit->row);
        else
          checkRow(*commit);
      }
    }
    for (const auto& [who, answer] : answers_) {
      if (!isSuccess(*answer)) continue;
      const auto row = rows.find(answer->row);
      if (row == rows.end())
        report(who, " was answered ", answer->status, ", but there is no row '", answer->row, "'");
      else if (row->second->who != who)
        report(who, " was answered ", answer->status, " with row ", answer->row, ", which is of ",
               row->second->who);
    }
  }

  void checkRow(const Event& commit) {
    const auto answer = answers_.find(commit.who);
    if (answer == answers_.end() || promises_.unknown.contains(answer->second->status)) return;
    if (!isSuccess(*answer->second))
      report("row ", commit.row, " exists, but ", commit.who, " was answered ",
             answer->second->status);
    else if (answer->second->row != commit.row)
      report("row ", commit.row, " exists, but ", commit.who, " was told of row '",
             answer->second->row, "'");
  }

  static bool isSuccess(const Event& answer) { return answer.status >= 200 && answer.status < 300; }

  const Promises& promises_;
  std::map<std::string, std::vector<Hold>> holds_;                     // by key
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // key, who → place in holds_
  std::map<std::string, std::vector<const Event*>> commits_;           // by key
  std::map<std::string, const Event*> answers_;                        // by request
  std::vector<std::string> broken_;
};

std::vector<std::string> History::check(const Promises& promises) const {
  const std::lock_guard guard(mutex_);
  return Checker(events_, promises).check();
}

}  // namespace festa::test
