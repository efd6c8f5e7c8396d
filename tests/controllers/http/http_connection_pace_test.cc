// Drogon's judgement of slow clients (scripts/patches/drogon-http-speed.patch).
#include <drogon-private/HttpConnectionPace.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using drogon::HttpConnectionPace;
using Verdict = HttpConnectionPace::Verdict;

// A client that was given a large answer, and is looked at once a second.
class HttpConnectionPaceTest : public testing::Test {
 protected:
  HttpConnectionPaceTest() {
    limits.stalledReaderSeconds = 30;
    pace.handed(kAnswer);
  }

  // Seconds until it is closed; at most `most`.
  template <class Taken>
  int livesFor(int most, Taken taken) {
    for (int second = 0; second < most; ++second)
      if (pace.check(limits, start + std::chrono::seconds(second), taken(second)) != Verdict::kFine)
        return second;
    return most;
  }

  static constexpr std::size_t kAnswer = 10'000'000;
  static constexpr auto kRate = static_cast<std::size_t>(HttpConnectionPace::kReaderBytesPerSecond);
  const HttpConnectionPace::Time start{1000s};
  drogon::HttpLimits limits;
  HttpConnectionPace pace;
};

}  // namespace

TEST_F(HttpConnectionPaceTest, AReaderThatTakesNothingIsStalled) {
  EXPECT_EQ(livesFor(100, [](int) { return std::size_t{0}; }), 31);
}

TEST_F(HttpConnectionPaceTest, AReaderThatTakesAByteNowAndThenIsStalled) {
  EXPECT_EQ(livesFor(100, [](int second) { return static_cast<std::size_t>(second / 29); }), 31);
}

TEST_F(HttpConnectionPaceTest, AReaderThatKeepsTheLeastPaceIsFine) {
  EXPECT_EQ(livesFor(600, [](int second) { return static_cast<std::size_t>(second) * kRate; }),
            600);
}

// The kernel tells of what was taken in large pieces.
TEST_F(HttpConnectionPaceTest, AReaderMayTakeItInPieces) {
  EXPECT_EQ(
      livesFor(600, [](int second) { return static_cast<std::size_t>(second / 29) * 30 * kRate; }),
      600);
}

TEST_F(HttpConnectionPaceTest, AReaderThatHasTakenEverythingIsFine) {
  EXPECT_EQ(livesFor(600, [](int) { return kAnswer; }), 600);
}

TEST_F(HttpConnectionPaceTest, AStreamHasItsOwnBounds) {
  pace.streams();
  EXPECT_EQ(livesFor(600, [](int) { return std::size_t{0}; }), 600);
}

}  // namespace festa::test
