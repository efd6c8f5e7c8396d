// Which transactions a look at the database has seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace festa {

// PostgreSQL's pg_snapshot: `xmin:xmax:xip,xip…`. A value; immutable.
class Snapshot {
 public:
  // Nullopt: PostgreSQL would not take the text for a snapshot.
  static std::optional<Snapshot> parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Most that differ are told apart without reading their texts.
  bool operator==(const Snapshot& other) const {
    return hash_ == other.hash_ && text_ == other.text_;
  }
  // The transaction had committed: as pg_visible_in_snapshot() says.
  bool sees(std::uint64_t xid) const;
  // What `before`, an earlier one of the same database, had seen and, of what this one has seen,
  // the transactions up to `xid`, which it sees.
  Snapshot upTo(std::uint64_t xid, const Snapshot& before) const;

 private:
  Snapshot() = default;

  std::string text_;
  std::size_t hash_ = 0;                // of the text
  std::uint64_t begin_ = 0;             // those below had ended
  std::uint64_t end_ = 0;               // those from here on had not begun
  std::vector<std::uint64_t> running_;  // between the two, in order
};

}  // namespace festa
