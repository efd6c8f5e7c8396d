// Entries as the bodies of messages: decimal.
#pragma once

#include "services/queue/ordered_queue.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace festa::queue {

inline std::string textOf(QueueEntry entry) {
  return std::to_string(entry);
}

// nullopt: something else.
inline std::optional<QueueEntry> entryOf(std::string_view text) {
  QueueEntry entry = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, entry);
  if (error != std::errc() || stop != end) return std::nullopt;
  return entry;
}

}  // namespace festa::queue
