#include "services/announcements/snapshot.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>

namespace festa {

namespace {

// Takes a number and the character behind it off the text. Nullopt: there is no such number.
std::optional<std::uint64_t> takeNumber(std::string_view& text, char behind) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  const bool isRight = error == std::errc() && length > 0;
  const bool isLast = length == text.size();
  if (!isRight || (isLast ? behind != ',' : text[length] != behind)) return std::nullopt;
  text.remove_prefix(isLast ? length : length + 1);
  // A comma has a number behind it.
  if (!isLast && behind == ',' && text.empty()) return std::nullopt;
  return number;
}

// As PostgreSQL's FullTransactionIdIsValid: of the number without its epoch.
bool isValid(std::uint64_t xid) {
  return static_cast<std::uint32_t>(xid) != 0;
}

}  // namespace

std::optional<Snapshot> Snapshot::parse(std::string_view text) {
  Snapshot snapshot;
  snapshot.text_ = text;
  snapshot.hash_ = std::hash<std::string>()(snapshot.text_);
  const auto begin = takeNumber(text, ':');
  const auto end = begin ? takeNumber(text, ':') : std::nullopt;
  if (!end || !isValid(*begin) || !isValid(*end) || *end < *begin) return std::nullopt;
  snapshot.begin_ = *begin;
  snapshot.end_ = *end;
  while (!text.empty()) {
    const auto xid = takeNumber(text, ',');
    const bool isNext = xid && *xid >= *begin && *xid < *end &&
                        (snapshot.running_.empty() || *xid > snapshot.running_.back());
    if (!isNext) return std::nullopt;
    snapshot.running_.push_back(*xid);
  }
  return snapshot;
}

Snapshot Snapshot::upTo(std::uint64_t xid, const Snapshot& before) const {
  Snapshot part;
  part.end_ = std::max(before.end_, xid + 1);
  // The first numbers of an epoch are no transactions.
  if (!isValid(part.end_)) part.end_ += 3;
  std::vector<std::uint64_t> candidates;
  std::ranges::set_union(before.running_, running_, std::back_inserter(candidates));
  for (const auto one : candidates)
    if (one < part.end_ && !before.sees(one) && (one > xid || !sees(one)))
      part.running_.push_back(one);
  part.begin_ = part.running_.empty() ? part.end_ : part.running_.front();
  part.text_ = std::to_string(part.begin_) + ':' + std::to_string(part.end_) + ':';
  for (const auto one : part.running_)
    part.text_.append(one == part.begin_ ? "" : ",").append(std::to_string(one));
  part.hash_ = std::hash<std::string>()(part.text_);
  return part;
}

bool Snapshot::sees(std::uint64_t xid) const {
  if (xid < begin_ || xid >= end_) return xid < begin_;
  return !std::binary_search(running_.begin(), running_.end(), xid);
}

}  // namespace festa
