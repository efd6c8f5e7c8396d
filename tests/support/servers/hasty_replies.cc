#include "tests/support/servers/hasty_replies.h"

#include <cstdint>

namespace festa::test {

namespace {

constexpr char kCommandComplete = 'C';
constexpr char kErrorResponse = 'E';
constexpr char kReadyForQuery = 'Z';
constexpr std::size_t kHead = 5;  // the type and the length, which counts itself
const std::string kReady{"Z\0\0\0\5I", 6};

std::size_t lengthIn(const std::string& message) {
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < kHead; ++i)
    length = length << 8 | static_cast<unsigned char>(message[i]);
  return 1 + length;
}

}  // namespace

std::string HastyReplies::pass(std::string_view bytes) {
  read_ += bytes;
  std::string passed;
  passAnswerToSslRequest(passed);
  for (auto message = takeMessage(); !message.empty(); message = takeMessage()) {
    if (isForged_) continue;
    const char type = message[0];
    if (type == kErrorResponse && hasResult_) {
      isForged_ = true;
      message = kReady;
    }
    hasResult_ = type == kCommandComplete || (hasResult_ && type != kReadyForQuery);
    passed += message;
  }
  return passed;
}

// One byte, before any message: no.
void HastyReplies::passAnswerToSslRequest(std::string& passed) {
  while (!isOpened_ && !read_.empty()) {
    isOpened_ = read_[0] != 'N';
    if (isOpened_) return;
    passed += read_[0];
    read_.erase(0, 1);
  }
}

std::string HastyReplies::takeMessage() {
  if (read_.size() < kHead || read_.size() < lengthIn(read_)) return "";
  const auto length = lengthIn(read_);
  auto message = read_.substr(0, length);
  read_.erase(0, length);
  return message;
}

}  // namespace festa::test
