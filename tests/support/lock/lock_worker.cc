#include "tests/support/lock/lock_worker.h"

#include "tests/support/loops.h"

#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace festa::test {

namespace {

std::vector<std::string> wordsOf(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  if (words.at(0) == "failed") words.at(2) = line.substr(line.find(words.at(2)));
  return words;
}

std::string text(lock::Millis time) {
  return std::to_string(time.count());
}

}  // namespace

LockWorker::LockWorker(const Options& options) : log_(makeTemporaryFolder() + "/log") {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("no socket for a worker");
  channel_ = ends[0];
  Command command{
      .arguments = {LOCK_WORKER_BINARY, "--storage", options.storage, "--epochs", options.epochs},
      .environment = options.environment,
      .output = log_,
      .channel = ends[1]};
  for (const int port : options.ports) {
    command.arguments.emplace_back("--port");
    command.arguments.push_back(std::to_string(port));
  }
  process_.emplace(command);
  close(ends[1]);
  listener_ = std::thread([this] { listen(); });
  try {
    answerAbout("ready");
  } catch (const std::exception&) {
    stop();
    throw;
  }
}

LockWorker::~LockWorker() {
  stop();
}

void LockWorker::stop() {
  process_.reset();
  listener_.join();
  close(channel_);
}

void LockWorker::listen() {
  std::string rest;
  char bytes[4096];
  while (true) {
    const auto count = recv(channel_, bytes, sizeof bytes, 0);
    const std::lock_guard guard(mutex_);
    if (count <= 0) ended_ = true;
    rest.append(bytes, count <= 0 ? 0 : static_cast<std::size_t>(count));
    for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      const auto line = rest.substr(0, end + 1);
      rest.erase(0, end + 1);
      if (line.starts_with("history ")) {
        history_ += line.substr(8);
      } else {
        const auto words = wordsOf(line);
        answers_[words.at(1)].push_back(words);
      }
    }
    heard_.notify_all();
    if (ended_) return;
  }
}

void LockWorker::say(const std::string& line) {
  // One that has died is noticed where its answer is awaited.
  send(channel_, (line + "\n").data(), line.size() + 1, MSG_NOSIGNAL);
}

LockWorker::Words LockWorker::answerAbout(const std::string& id) {
  std::unique_lock guard(mutex_);
  auto& answers = answers_[id];
  heard_.wait_for(guard, kPatience, [&] { return ended_ || !answers.empty(); });
  if (answers.empty())
    throw std::runtime_error("a worker gave no answer about " + id + "; it said: " + log());
  auto words = std::move(answers.front());
  answers.pop_front();
  if (words.at(0) == "failed") throw std::runtime_error(words.at(2));
  return words;
}

void LockWorker::startLock(const std::string& id, const std::string& key, lock::Millis wait,
                           lock::Millis lease) {
  say("lock " + id + " " + key + " " + text(wait) + " " + text(lease) + " 1");
}

std::optional<LockWorker::Grant> LockWorker::finishLock(const std::string& id) {
  const auto words = answerAbout(id);
  if (words.at(0) == "busy") return std::nullopt;
  return Grant{std::stoll(words.at(2)),
               lock::SteadyTime(std::chrono::nanoseconds(std::stoll(words.at(3))))};
}

std::optional<LockWorker::Grant> LockWorker::lock(const std::string& id, const std::string& key,
                                                  lock::Millis wait, lock::Millis lease) {
  startLock(id, key, wait, lease);
  return finishLock(id);
}

std::string LockWorker::unlock(const std::string& id) {
  say("unlock " + id);
  return answerAbout(id).at(2);
}

bool LockWorker::extend(const std::string& id, lock::Millis lease) {
  say("extend " + id + " " + text(lease));
  return answerAbout(id).at(0) == "extended";
}

void LockWorker::startMany(int count, const std::string& key, lock::Millis wait, lock::Millis lease,
                           std::size_t together) {
  say("many " + std::to_string(count) + " " + key + " " + text(wait) + " " + text(lease) + " " +
      std::to_string(together));
}

std::string LockWorker::finishOneOfMany(int index) {
  const auto id = "n" + std::to_string(index);
  if (!finishLock(id)) return "busy";
  return answerAbout(id).at(2);
}

std::size_t LockWorker::waiting() {
  say("stats s");
  return std::stoul(answerAbout("s").at(2));
}

std::int64_t LockWorker::wallClock() {
  say("time t");
  return std::stoll(answerAbout("t").at(2));
}

std::string LockWorker::history() {
  const std::lock_guard guard(mutex_);
  return history_;
}

std::string LockWorker::log() const {
  std::ostringstream text;
  text << std::ifstream(log_).rdbuf();
  return text.str();
}

int LockWorker::quit() {
  say("quit");
  return process_->wait();
}

}  // namespace festa::test
