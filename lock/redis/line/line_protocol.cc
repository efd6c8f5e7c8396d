#include "lock/redis/line/line_protocol.h"

#include <charconv>

namespace festa::lock {

namespace {

template <class Number>
bool parseWhole(std::string_view text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string Ticket::text() const {
  return process + ':' + std::to_string(number) + ':' + std::to_string(lease.count());
}

std::optional<Ticket> Ticket::parse(std::string_view text) {
  const auto first = text.find(':');
  const auto second = first == text.npos ? text.npos : text.find(':', first + 1);
  if (second == text.npos) return std::nullopt;
  Ticket ticket;
  ticket.process = text.substr(0, first);
  Millis::rep lease = 0;
  if (!parseWhole(text.substr(first + 1, second - first - 1), ticket.number) ||
      !parseWhole(text.substr(second + 1), lease))
    return std::nullopt;
  ticket.lease = Millis{lease};
  return ticket;
}

const LockKey* keyOf(const LineCommand& command) {
  return std::visit(
      [](const auto& c) -> const LockKey* {
        if constexpr (requires { c.key; })
          return &c.key;
        else
          return nullptr;
      },
      command);
}

}  // namespace festa::lock
