#include "app/operations/log.h"

#include "controllers/json/json_writer.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <ctime>
#include <utility>

namespace festa {

namespace {

// Set once at start.
bool infoEnabled = true;
bool warnEnabled = true;

bool isEnabled(std::string_view level) {
  if (level == "info") return infoEnabled;
  return level == "warn" ? warnEnabled : true;
}

std::string_view nameIn(std::string_view line) {
  for (const auto level : {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"})
    if (line.find(level) != std::string_view::npos) return level;
  return "INFO";
}

std::string_view lowered(std::string_view level) {
  if (level == "WARN") return "warn";
  if (level == "ERROR") return "error";
  if (level == "FATAL") return "fatal";
  if (level == "DEBUG") return "debug";
  if (level == "TRACE") return "trace";
  return "info";
}

// Never destroyed: threads may log to the end.
LogThrottle& throttle() {
  static auto& throttle = *new LogThrottle(20);
  return throttle;
}

// trantor hands over "<date> <time> UTC <thread> <LEVEL> <message> - <file>:<line>\n".
void writeTrantorLine(const char* text, std::uint64_t length) {
  std::string_view line(text, length);
  while (line.ends_with('\n')) line.remove_suffix(1);
  const auto head = line.substr(0, 64);
  const auto level = nameIn(head);
  const auto at = line.find(level);
  const auto place = line.substr(std::min(line.rfind(" - "), line.size()));
  const auto dropped = throttle().mayWrite(std::string(place), std::chrono::steady_clock::now());
  if (!dropped) return;
  LogLine written("drogon", lowered(level));
  written.with("text", at == std::string_view::npos ? line : line.substr(at + level.size()));
  if (*dropped > 0) written.with("dropped", static_cast<std::int64_t>(*dropped));
}

// "2026-11-16T15:38:56". Each thread writes it anew once a second.
std::string_view wallClock(std::time_t second) {
  thread_local std::time_t written = -1;
  thread_local char text[20];
  if (second != written) {
    std::tm parts{};
    gmtime_r(&second, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    written = second;
  }
  return {text, sizeof text - 1};
}

void appendTime(std::string& out) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  char micros[] = ".000000";
  auto rest = now.tv_nsec / 1000;
  for (int at = 6; at > 0; --at, rest /= 10) micros[at] = static_cast<char>('0' + rest % 10);
  out.append(wallClock(now.tv_sec)).append(micros);
}

}  // namespace

namespace {

thread_local bool threadEnds = false;

void writeOut(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
}

// Lines that wait go out in one write with the next one that does not, at the end of the loop's
// turn at the latest. What a pipe takes at once does not mix with the lines of other threads or
// processes.
class TurnOfLines {
 public:
  ~TurnOfLines() {
    flush();
    threadEnds = true;
  }

  void add(std::string_view line, bool waits) {
    if (text_.size() + line.size() > PIPE_BUF) flush();
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    const bool isFirst = text_.empty();
    text_ += line;
    if (!waits || !loop || !loop->isRunning())
      flush();
    else if (isFirst)
      loop->queueInLoop([this] { flush(); });
  }

 private:
  void flush() {
    if (text_.empty()) return;
    writeOut(text_);
    text_.clear();
  }

  std::string text_;
};

thread_local TurnOfLines turnOfLines;

}  // namespace

std::optional<std::uint64_t> LogThrottle::mayWrite(const std::string& place, Time now) {
  const std::lock_guard guard(mutex_);
  auto& second = places_.try_emplace(place, Second{now}).first->second;
  if (now - second.began >= std::chrono::seconds(1)) second = {now, 0, second.dropped};
  if (second.written >= perSecond_) {
    ++second.dropped;
    return std::nullopt;
  }
  ++second.written;
  return std::exchange(second.dropped, 0);
}

LogLine::LogLine(std::string_view event, std::string_view level)
    : enabled_(isEnabled(level)), waits_(event == "lock") {
  if (!enabled_) return;
  text_.reserve(256);
  text_ = "{\"time\":\"";
  appendTime(text_);
  text_ += "Z\"";
  with("level", level).with("event", event);
}

LogLine::~LogLine() {
  if (!enabled_) return;
  text_ += "}\n";
  if (threadEnds)
    writeOut(text_);  // destructors that run later may still log
  else
    turnOfLines.add(text_, waits_);
}

LogLine& LogLine::with(std::string_view key, std::string_view value) {
  if (!enabled_) return *this;
  text_ += ',';
  appendQuoted(text_, key);
  text_ += ':';
  appendQuoted(text_, value);
  return *this;
}

LogLine& LogLine::with(std::string_view key, std::int64_t value) {
  if (!enabled_) return *this;
  text_ += ',';
  appendQuoted(text_, key);
  text_ += ':' + std::to_string(value);
  return *this;
}

LogLine& LogLine::with(std::string_view key, double value) {
  if (!enabled_) return *this;
  char number[32];
  const auto [end, error] =
      std::to_chars(number, number + sizeof number, value, std::chars_format::fixed, 3);
  text_ += ',';
  appendQuoted(text_, key);
  text_ += ':';
  text_ += error == std::errc() ? std::string_view(number, end) : "null";
  return *this;
}

void initialiseLog(const std::string& level) {
  using trantor::Logger;
  const auto chosen = level == "trace"   ? Logger::kTrace
                      : level == "debug" ? Logger::kDebug
                      : level == "info"  ? Logger::kInfo
                      : level == "warn"  ? Logger::kWarn
                                         : Logger::kError;
  Logger::setLogLevel(chosen);
  infoEnabled = chosen <= Logger::kInfo;
  warnEnabled = chosen <= Logger::kWarn;
  Logger::setOutputFunction(writeTrantorLine, [] {});
}

}  // namespace festa
