// Drogon and the reference read the same in everything that was ever kept, and a mistake in either
// would be seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/drogon_connection.h"
#include "tests/fuzz/framing_comparison.h"

namespace festa::test {

namespace {

using namespace std::string_literals;

// The pieces in which large requests are tried. Byte by byte would take minutes.
const std::string kPieces[] = {"\0\0\0"s, "\xFF\x07\x9D"s, "\xFF\xFF\1"s};

void expectReadAlike(const std::string& bytes, const std::string& pieces) {
  EXPECT_EQ(disagreement(FuzzInput(pieces + bytes), strictReference()), "")
      << bytes.size() << " bytes: " << bytes.substr(0, 100);
}

// References with a mistake that a reader of HTTP was once found with.
class Lax : public StrictFraming {
 public:
  Lax() : StrictFraming(DrogonConnection::kMaxBody) {}
};

struct SpaceBeforeColon : Lax {
  bool isFieldName(std::string_view name) const override {
    return StrictFraming::isFieldName(name.substr(0, name.find_last_not_of(" \t") + 1));
  }
};

struct FoldedLines : Lax {
  bool isFieldName(std::string_view name) const override {
    return name.starts_with(' ') || StrictFraming::isFieldName(name);
  }
};

struct ControlCharacters : Lax {
  bool isFieldValue(std::string_view) const override { return true; }
};

struct LengthReadAsFarAsPossible : Lax {
  std::optional<std::size_t> bodyLength(const Fields& fields) const override {
    if (fields.contentLengths.empty()) return 0;
    return std::strtoull(fields.contentLengths.front().c_str(), nullptr, 10);
  }
};

struct ChunkedBesidesLength : Lax {
  std::optional<bool> isChunked(const Fields& fields, bool) const override {
    return !fields.transferEncodings.empty() && fields.transferEncodings.front() == "chunked";
  }
};

struct ChunkedSomewhere : Lax {
  std::optional<bool> isChunked(const Fields& fields, bool isHttp11) const override {
    if (fields.transferEncodings.size() == 1 && fields.contentLengths.empty() &&
        fields.transferEncodings.front().find("chunked") != std::string::npos)
      return true;
    return StrictFraming::isChunked(fields, isHttp11);
  }
};

struct ChunkSizeReadAsFarAsPossible : Lax {
  std::optional<std::size_t> chunkSize(std::string_view line) const override {
    return std::strtoull(std::string(line).c_str(), nullptr, 16);
  }
};

struct NothingCloses : Lax {
  bool closes(const Fields&, bool) const override { return false; }
};

std::size_t disagreementsWith(const StrictFraming& reference) {
  const auto inputs = corpusInputs();
  return static_cast<std::size_t>(
      std::count_if(inputs.begin(), inputs.end(), [&](const CorpusInput& input) {
        return !disagreement(FuzzInput(input.bytes), reference).empty();
      }));
}

template <typename Reference>
class FramingMistake : public testing::Test {};

using Mistakes = testing::Types<SpaceBeforeColon, FoldedLines, ControlCharacters,
                                LengthReadAsFarAsPossible, ChunkedBesidesLength, ChunkedSomewhere,
                                ChunkSizeReadAsFarAsPossible, NothingCloses>;
TYPED_TEST_SUITE(FramingMistake, Mistakes);

}  // namespace

TEST(FramingCorpus, IsReadAlike) {
  const auto inputs = corpusInputs();
  ASSERT_GT(inputs.size(), 50U);
  for (const auto& input : inputs)
    EXPECT_EQ(disagreement(FuzzInput(input.bytes), strictReference()), "") << input.name;
}

TYPED_TEST(FramingMistake, IsSeenInTheCorpus) {
  EXPECT_GT(disagreementsWith(TypeParam()), 0U);
}

TEST(FramingComparison, SeesAWrongBody) {
  const auto bytes = "\0\0\0POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\nab"s;
  EXPECT_NE(disagreement(FuzzInput(bytes), LengthReadAsFarAsPossible()), "");
  EXPECT_EQ(disagreement(FuzzInput(bytes), strictReference()), "");
}

// Larger than what the fuzzer makes.
TEST(FramingBounds, AreTheSameInAnyPieces) {
  for (const auto& pieces : kPieces) {
    SCOPED_TRACE(testing::PrintToString(pieces));
    for (const std::size_t size : {65'534, 65'535, 65'536, 65'537, 65'538, 65'539, 70'000}) {
      expectReadAlike("GET /" + std::string(size - 10, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                      pieces);
      expectReadAlike("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(size - 14, 'x') + "\r\n\r\n",
                      pieces);
    }
  }
  for (const std::size_t size : {255, 256, 257, 258, 259, 1000})
    expectReadAlike("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0;" +
                        std::string(size - 2, 'x') + "\r\n\r\n",
                    "\1\1\1");
}

}  // namespace festa::test
