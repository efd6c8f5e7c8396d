// The control of tests that look for answers before their commit.
#pragma once

#include "tests/support/servers/tcp_proxy.h"

#include <string>

namespace festa::test {

// Replies of PostgreSQL as a client hears them that takes the result of a statement for the
// acknowledgement of its commit: where the session ends between the two, a forged "ready for query"
// takes the place of the error.
class HastyReplies : public ReplyFilter {
 public:
  static std::unique_ptr<ReplyFilter> make() { return std::make_unique<HastyReplies>(); }

  std::string pass(std::string_view bytes) override;

 private:
  void passAnswerToSslRequest(std::string& passed);
  // The next message if it is complete, or "".
  std::string takeMessage();

  std::string read_;
  bool isOpened_ = false;   // messages have begun
  bool hasResult_ = false;  // of a statement whose commit is not acknowledged yet
  bool isForged_ = false;   // what follows is not passed on
};

}  // namespace festa::test
