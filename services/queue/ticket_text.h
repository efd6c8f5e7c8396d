// Tickets as the bodies of messages: decimal.
#pragma once

#include "services/queue/ordered_queue.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace festa::queue {

inline std::string textOf(QueueTicket ticket) {
  return std::to_string(ticket);
}

// nullopt: something else.
inline std::optional<QueueTicket> ticketOf(std::string_view text) {
  QueueTicket ticket = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, ticket);
  if (error != std::errc() || stop != end) return std::nullopt;
  return ticket;
}

}  // namespace festa::queue
