#include "lock/redis/line/line_scripts.h"

#include "line_lua.h"

#include <charconv>

namespace festa::lock {

namespace {

const RedisScript kSteps(kLineLua);

// KEYS alive · ARGV channel, how long a process is alive in ms, what line.lua finds there
// → {{1: the server knew it}}
const RedisScript kBeat(R"(
local known = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
redis.call('PUBLISH', ARGV[1], 'beat')
return {{known}}
)");

// KEYS alive
const RedisScript kQuit("redis.call('DEL', KEYS[1]) return {{1}}");

std::string text(std::int64_t number) {
  return std::to_string(number);
}

struct StepText {
  std::string operator()(const ArriveCommand& c) const {
    return line(!c.queue ? 'a' : c.brief ? 'b' : 'q', {c.ticket, c.key});
  }
  std::string operator()(const LeaveCommand& c) const {
    std::string tickets = c.ticket;
    for (const auto& follower : c.followers) tickets.append(1, ',').append(follower);
    if (c.next.empty()) return line('l', {tickets, numbersOf(c.following), c.key});
    return line(c.keep ? 'k' : 'n', {tickets, numbersOf(c.following), c.next, c.key});
  }
  std::string operator()(const AbandonCommand& c) const {
    std::string tickets = "-";  // none
    for (const auto& ticket : c.tickets) tickets.append(1, ',').append(ticket);
    return line('l', {tickets, numbersOf({}), c.key});
  }
  std::string operator()(const ConfirmCommand& c) const {
    return line('c', {c.ticket, numbersOf(c.following), c.key});
  }
  std::string operator()(const LookCommand& c) const { return line('o', {c.ticket, c.key}); }
  std::string operator()(const auto&) const { throw std::logic_error("not about a key"); }

 private:
  static std::string numbersOf(const Following& following) {
    return std::to_string(following.named) + ',' + std::to_string(following.unnamed);
  }
  static std::string line(char what, std::initializer_list<std::string_view> words) {
    std::size_t size = 0;
    for (const auto word : words) size += 1 + word.size();
    std::string step;
    step.reserve(size);
    for (const auto word : words) {
      step += step.empty() ? what : ' ';
      step += word;
    }
    return step;
  }
};

std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string lifeOf(const BeatCommand& beat) {
  return beat.number > 0 ? 'r' + std::to_string(beat.number) : "0";
}

std::optional<std::int64_t> numberOf(const std::string& text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || read != end) return std::nullopt;
  return number;
}

LineVerdict verdictOf(std::int64_t number) {
  switch (number) {
    case -1: return LineVerdict::kNoEpoch;
    case 0: return LineVerdict::kNo;
    case 1: return LineVerdict::kYes;
    default: return LineVerdict::kLeftLine;
  }
}

// The fences that the step draws for unnamed ones when it grants a hold.
int spareOf(const LineCommand& step) {
  return std::visit(
      [](const auto& c) {
        if constexpr (requires { c.following; })
          return c.following.unnamed;
        else
          return 0;
      },
      step);
}

LineReply replyOf(const RedisReply& answer, const LineCommand& step) {
  const auto& items = answer.items;
  const auto number = [&](std::size_t at) { return at < items.size() ? items[at].integer : 0; };
  LineReply reply{.verdict = verdictOf(number(0)),
                  .others = number(5) == 1,
                  .offered = number(6) == 1,
                  .unfinished = number(7) == 1};
  if (items.size() > 1 && !items[1].text.empty()) {
    auto tickets = wordsOf(items[1].text);
    reply.holder = tickets.front();
    reply.remaining = Ticket::parse(reply.holder).value().lease;
    tickets.erase(tickets.begin());
    reply.grant = {reply.holder, number(2), std::move(tickets), spareOf(step)};
  } else if (items.size() > 3) {
    reply.holder = items[3].text;
    if (items.size() > 4 && number(4) >= 0) reply.remaining = Millis{number(4)};
  }
  return reply;
}

}  // namespace

LineCall callOf(std::span<const LineCommand> steps, const RedisKeys& keys,
                const std::string& process) {
  if (const auto* const beat = std::get_if<BeatCommand>(&steps[0]))
    return {kBeat,
            {keys.alive(process)},
            {keys.wake(process), text(kAliveTime.count()), lifeOf(*beat)}};
  if (std::holds_alternative<QuitCommand>(steps[0])) return {kQuit, {keys.alive(process)}, {}};
  LineCall call{kSteps,
                {keys.fence()},
                {keys.storage(), process, text(kAliveTime.count()), text(kOfferTime.count()),
                 text(kMissedOfferTime.count()), text(kShortestReadyLease.count()),
                 text(kLongestReadyLease.count()), text(kDeadPerStep)}};
  call.arguments.reserve(call.arguments.size() + steps.size());
  for (const auto& step : steps) call.arguments.push_back(std::visit(StepText{}, step));
  return call;
}

std::vector<LineReply> repliesOf(const RedisReply& reply, std::span<const LineCommand> steps) {
  std::vector<LineReply> replies;
  replies.reserve(reply.items.size());
  for (std::size_t i = 0; i < reply.items.size(); ++i)
    replies.push_back(replyOf(reply.items[i], steps[i]));
  return replies;
}

LineMessage messageOf(const std::string& text) {
  // Each word ends with a space; the key, which may have spaces, is the rest.
  std::size_t at = 0;
  const auto word = [&] {
    const auto begin = std::min(at, text.size());
    const auto end = std::min(text.find(' ', begin), text.size());
    at = end + 1;
    return text.substr(begin, end - begin);
  };
  const auto rest = [&] { return text.substr(std::min(at, text.size())); };
  auto ticket = word();
  if (ticket != "!") {
    if (at > text.size()) return EchoMessage{};
    return OfferMessage{rest(), std::move(ticket)};
  }
  ticket = word();
  const auto fence = numberOf(word());
  const auto beat = numberOf(word());
  if (!fence || !beat) return EchoMessage{};
  return GrantMessage{rest(), std::move(ticket), *fence, static_cast<std::uint64_t>(*beat)};
}

}  // namespace festa::lock
