#include "lock/redis/line_scripts.h"

#include "lock/redis/lua_files.h"

namespace festa::lock {

namespace {

const RedisScript kSteps(luaText("line.lua"));
const RedisScript kBeat(luaText("line_beat.lua"));
const RedisScript kQuit(luaText("line_quit.lua"));

// Tokens begin with their epoch, and that with 1.
constexpr std::int64_t kLeastToken = std::int64_t{1} << 32;

std::string text(std::int64_t number) {
  return std::to_string(number);
}

struct StepText {
  std::string operator()(const ArriveCommand& c) const {
    return step(!c.queue ? 'a' : c.brief ? 'b' : 'q', {c.ticket, c.key});
  }
  std::string operator()(const LeaveCommand& c) const {
    std::string tickets = c.ticket;
    for (const auto& follower : c.followers) tickets.append(1, ',').append(follower);
    if (c.next.empty()) return step('l', {tickets, c.key});
    return step(c.keep ? 'k' : 'n', {tickets, c.next, c.key});
  }
  std::string operator()(const AbandonCommand& c) const {
    std::string tickets = "-";  // nobody's
    for (const auto& ticket : c.tickets) tickets.append(1, ',').append(ticket);
    return step('l', {tickets, c.key});
  }
  std::string operator()(const ConfirmCommand& c) const { return step('c', {c.ticket, c.key}); }
  std::string operator()(const LookCommand& c) const { return step('o', {c.ticket, c.key}); }
  std::string operator()(const auto&) const { throw std::logic_error("not about a key"); }

 private:
  static std::string step(char what, std::initializer_list<std::string_view> words) {
    std::size_t size = 0;
    for (const auto word : words) size += 1 + word.size();
    std::string line;
    line.reserve(size);
    for (const auto word : words) {
      line += line.empty() ? what : ' ';
      line += word;
    }
    return line;
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

LineVerdict verdictOf(std::int64_t number) {
  switch (number) {
    case -1: return LineVerdict::kNoEpoch;
    case 0: return LineVerdict::kNo;
    case 1: return LineVerdict::kYes;
    default: return LineVerdict::kLeftLine;
  }
}

LineReply replyOf(const RedisReply& answer, const LineCommand& step) {
  const auto& items = answer.items;
  if (items.empty() && answer.integer >= kLeastToken) {
    const auto& ticket = std::get<ArriveCommand>(step).ticket;
    return {.verdict = LineVerdict::kYes,
            .grant = LineReply::Grant{ticket, answer.integer},
            .holder = ticket,
            .remaining = Ticket::parse(ticket).value().lease};
  }
  const auto number = [&](std::size_t at) { return at < items.size() ? items[at].integer : 0; };
  LineReply reply;
  reply.verdict = verdictOf(items.empty() ? answer.integer : items[0].integer);
  if (items.size() > 2 && !items[1].text.empty()) {
    auto tickets = wordsOf(items[1].text);
    reply.holder = tickets.front();
    reply.remaining = Ticket::parse(reply.holder).value().lease;
    tickets.erase(tickets.begin());
    reply.grant = {reply.holder, items[2].integer, std::move(tickets)};
  }
  if (items.size() > 4) reply.holder = items[4].text;
  if (items.size() > 5)
    reply.remaining = number(5) >= 0 ? std::optional(Millis{number(5)}) : std::nullopt;
  reply.others = number(3) == 1;
  reply.offered = number(6) == 1;
  reply.unfinished = number(7) == 1;
  return reply;
}

}  // namespace

LineCall callOf(std::span<const LineCommand> steps, const RedisKeys& keys,
                const std::string& process) {
  if (std::holds_alternative<BeatCommand>(steps[0]))
    return {kBeat, {keys.alive(process)}, {keys.wake(process), text(kAliveTime.count())}};
  if (std::holds_alternative<QuitCommand>(steps[0])) return {kQuit, {keys.alive(process)}, {}};
  LineCall call{kSteps,
                {keys.fence()},
                {keys.storage(), process, text(kFollowers), text(kAliveTime.count()),
                 text(kOfferTime.count()), text(kDeadPerStep)}};
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

std::optional<Offer> offerOf(const std::string& message) {
  const auto space = message.find(' ');
  if (space == message.npos) return std::nullopt;
  return Offer{message.substr(0, space), message.substr(space + 1)};
}

}  // namespace festa::lock
