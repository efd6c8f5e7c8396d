#include "tests/fuzz/framing_comparison.h"

#include <algorithm>

#include "tests/fuzz/drogon_connection.h"

namespace festa::test {

namespace {

// Drogon gives paths and queries apart; of targets without a path, such as "*", nothing is left.
bool isSameTarget(const std::string& framed, const std::string& read) {
  if (!framed.starts_with('/')) return true;
  return framed == read || framed == read + '?';
}

bool isSameMethod(const std::string& framed, const std::string& read) {
  static const std::string known[] = {"GET",  "PUT",  "POST",  "HEAD",   "PATCH",   "OPTIONS",
                                      "COPY", "MOVE", "MKCOL", "DELETE", "PROPFIND"};
  const bool isKnown = std::find(std::begin(known), std::end(known), framed) != std::end(known);
  return read == (isKnown ? framed : "");
}

bool isSame(const FramedRequest& framed, const ReadRequest& read) {
  return isSameMethod(framed.method, read.method) && isSameTarget(framed.target, read.target) &&
         framed.isHttp11 == read.isHttp11 && framed.body == read.body;
}

class Comparison {
 public:
  Comparison(std::string_view bytes, const StrictFraming& reference)
      : bytes_(bytes), reference_(reference), expected_(reference.read(bytes)) {}

  std::string inPieces(std::string_view lengths) {
    DrogonConnection connection;
    std::size_t sent = 0;
    for (std::size_t turn = 0; sent < bytes_.size(); ++turn) {
      const auto length =
          lengths.empty() ? 0 : static_cast<unsigned char>(lengths[turn % lengths.size()]);
      const auto piece = bytes_.substr(sent, length == 0 ? bytes_.size() : length);
      connection.receive(piece);
      sent += piece.size();
      const auto difference = differenceAfter(sent, connection);
      if (!difference.empty())
        return "after " + std::to_string(sent) + " of " + std::to_string(bytes_.size()) +
               " bytes: " + difference;
    }
    return differenceAtTheEnd(connection);
  }

 private:
  // Everything was answered: when the client sends nothing more, the connection ends, and what was
  // not complete is not answered.
  std::string differenceAtTheEnd(DrogonConnection& connection) const {
    connection.endInput();
    if (connection.isOpen()) return "it stays open after the end of its input";
    const auto difference = differenceAfter(bytes_.size(), connection);
    return difference.empty() ? "" : "after the end of its input: " + difference;
  }

  std::string differenceAfter(std::size_t sent, const DrogonConnection& connection) const {
    const auto& requests = expected_.requests;
    const auto complete = static_cast<std::size_t>(
        std::count_if(requests.begin(), requests.end(),
                      [&](const FramedRequest& request) { return request.end <= sent; }));
    const auto& read = connection.requests();
    if (read.size() != complete)
      return "Drogon has read " + std::to_string(read.size()) + " requests, the reference " +
             std::to_string(complete) + described(connection);
    for (std::size_t i = 0; i < complete; ++i)
      if (!isSame(requests[i], read[i]))
        return "request " + std::to_string(i + 1) + " is " + requests[i].method + ' ' +
               requests[i].target + " with " + std::to_string(requests[i].body.size()) +
               " bytes for the reference, " + read[i].method + ' ' + read[i].target + " with " +
               std::to_string(read[i].body.size()) + " for Drogon";
    const bool mustRefuse = expected_.refusal && expected_.refusal->at <= sent;
    if (mustRefuse && !connection.refusal())
      return "the reference refuses, Drogon does not" + described(connection);
    if (!mustRefuse && connection.refusal() && !isHopeless(sent))
      return "Drogon refuses, the reference does not" + described(connection);
    const auto answers = complete + (connection.refusal() ? 1 : 0);
    if (connection.answers() != answers)
      return std::to_string(connection.answers()) + " answers to " + std::to_string(answers) +
             " requests and refusals";
    return {};
  }

  // Drogon may refuse a line before its end when no end could save it.
  bool isHopeless(std::size_t sent) const {
    return reference_.read(std::string(bytes_.substr(0, sent)) + "\r\n").refusal.has_value();
  }

  std::string described(const DrogonConnection& connection) const {
    std::string text;
    if (expected_.refusal)
      text += "; the reference refuses at " + std::to_string(expected_.refusal->at) + ": " +
              expected_.refusal->reason;
    if (connection.refusal())
      text += "; Drogon refused with " + std::to_string(*connection.refusal());
    return text;
  }

  std::string_view bytes_;
  const StrictFraming& reference_;
  Framing expected_;
};

}  // namespace

std::string disagreement(const FuzzInput& input, const StrictFraming& reference) {
  Comparison comparison(input.bytes, reference);
  auto difference = comparison.inPieces({});
  if (!difference.empty()) return "in one piece, " + difference;
  difference = comparison.inPieces(input.lengths);
  if (!difference.empty()) return "in pieces, " + difference;
  return {};
}

const StrictFraming& strictReference() {
  static const StrictFraming reference(DrogonConnection::kMaxBody);
  return reference;
}

}  // namespace festa::test
