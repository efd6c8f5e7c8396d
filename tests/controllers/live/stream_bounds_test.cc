#include "controllers/live/stream_bounds.h"

#include "services/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

struct Peer {
  std::size_t sent = 0;
  bool isClosed = false;
};

class ConnectionTo : public StreamConnection {
 public:
  explicit ConnectionTo(Peer& peer) : peer_(peer) {}
  std::size_t sent() const override { return peer_.sent; }
  void close() override { peer_.isClosed = true; }

 private:
  Peer& peer_;
};

class StreamBoundsTest : public testing::Test {
 protected:
  static constexpr StreamBounds::Limits kLimits{.streamsPerAddress = 3,
                                                .unsentPerStream = 100,
                                                .unsentPerAddress = 250,
                                                .unsentInAll = 500,
                                                .proxies = {}};

  // A stream that has begun, to a peer that takes nothing.
  struct Reader {
    Reader(StreamBounds& bounds, const std::string& address) : stream(bounds.open(address)) {
      stream->begin(std::make_unique<ConnectionTo>(peer));
    }
    Peer peer;
    std::unique_ptr<StreamBounds::Stream> stream;
  };

  std::unique_ptr<Reader> reader(const std::string& address) {
    return std::make_unique<Reader>(*bounds, address);
  }

  StreamBounds::Time now{1000s};
  const std::shared_ptr<StreamBounds> bounds = std::make_shared<StreamBounds>(kLimits);
};

}  // namespace

TEST_F(StreamBoundsTest, TheStreamsOfAnAddressShareItsWeight) {
  const auto alone = reader("a");
  const auto one = reader("b");
  auto other = reader("b");
  EXPECT_EQ(alone->stream->shareOfAddress(), 1);
  EXPECT_EQ(one->stream->shareOfAddress(), 0.5);
  other.reset();
  EXPECT_EQ(one->stream->shareOfAddress(), 1);
  EXPECT_EQ(reader("")->stream->shareOfAddress(), 1);
}

TEST_F(StreamBoundsTest, AReaderIsBehindWhileItHasLeftTooMuch) {
  const auto one = reader("a");
  one->stream->handOver(100, now);
  EXPECT_FALSE(one->stream->isBehind(now));
  one->stream->handOver(1, now);
  EXPECT_TRUE(one->stream->isBehind(now));
  EXPECT_TRUE(one->stream->isOverfull());
  EXPECT_EQ(bounds->unsent(), 101U);
  one->peer.sent = 1;
  EXPECT_FALSE(one->stream->isBehind(now));
  EXPECT_FALSE(one->stream->isOverfull());
  EXPECT_EQ(bounds->unsent(), 100U);
}

TEST_F(StreamBoundsTest, AnAddressThatHasLeftTooMuchGetsNothingMore) {
  const auto first = reader("a"), second = reader("a"), third = reader("a");
  const auto other = reader("b");
  for (const auto* one : {&first, &second, &third}) (*one)->stream->handOver(90, now);
  EXPECT_TRUE(third->stream->isBehind(now));
  EXPECT_FALSE(third->stream->isOverfull());
  EXPECT_FALSE(other->stream->isBehind(now)) << "another address has nothing to do with it";
  first->peer.sent = 90;
  EXPECT_FALSE(third->stream->isBehind(now + 1s)) << "it has taken something";
}

TEST_F(StreamBoundsTest, AllTogetherGetNothingMoreWhenTheyHaveLeftTooMuch) {
  std::vector<std::unique_ptr<Reader>> readers;
  for (const std::string address : {"a", "a", "b", "b", "c", "c"}) {
    readers.push_back(reader(address));
    readers.back()->stream->handOver(90, now);
  }
  const auto other = reader("d");
  EXPECT_TRUE(other->stream->isBehind(now));
  readers[0]->peer.sent = 90;
  EXPECT_FALSE(other->stream->isBehind(now + 1s));
}

// As the documents have them.
TEST_F(StreamBoundsTest, OneStreamMayLeave16KiBAnAddress16MiBAndAll64MiB) {
  constexpr std::size_t kMebibyte = 1024UL * 1024;
  const auto usual = std::make_shared<StreamBounds>(StreamBounds::Limits{});
  Reader small(*usual, "a");
  small.stream->handOver(16 * 1024, now);
  EXPECT_FALSE(small.stream->isBehind(now));
  small.stream->handOver(1, now);
  EXPECT_TRUE(small.stream->isBehind(now));
  small.peer.sent = 16 * 1024 + 1;

  std::vector<std::unique_ptr<Reader>> readers;
  const auto leave = [&](const std::string& address, std::size_t bytes) {
    readers.push_back(std::make_unique<Reader>(*usual, address));
    readers.back()->stream->handOver(bytes, now);
  };
  leave("a", 16 * kMebibyte);
  EXPECT_FALSE(small.stream->isBehind(now));
  leave("a", 1);
  EXPECT_TRUE(small.stream->isBehind(now));
  Reader other(*usual, "e");
  for (const std::string address : {"b", "c", "d"}) leave(address, 16 * kMebibyte - 1);
  leave("f", 2);
  EXPECT_FALSE(other.stream->isBehind(now));
  leave("f", 1);
  EXPECT_TRUE(other.stream->isBehind(now));
}

TEST_F(StreamBoundsTest, ThoseWhoDoNotReadAreClosedForThoseWhoDo) {
  std::vector<std::unique_ptr<Reader>> readers;
  for (const std::string address : {"a", "a", "b", "b", "c", "c"}) {
    readers.push_back(reader(address));
    readers.back()->stream->handOver(address == "b" ? 95 : 90, now);
  }
  const auto quick = reader("d");
  EXPECT_TRUE(quick->stream->isBehind(now + StreamBounds::kPatience));
  for (const auto& one : readers) EXPECT_FALSE(one->peer.isClosed);
  // One of them takes its bytes just in time.
  readers[2]->peer.sent = 1;
  EXPECT_FALSE(quick->stream->isBehind(now + StreamBounds::kPatience + 1s));
  int closed = 0;
  for (const auto& one : readers) closed += one->peer.isClosed ? 1 : 0;
  EXPECT_EQ(closed, 1) << "no more than needed";
  EXPECT_TRUE(readers[3]->peer.isClosed) << "the largest";
  EXPECT_FALSE(quick->peer.isClosed);
  EXPECT_EQ(bounds->closed(), 1U);
}

// Otherwise one byte now and then would keep it.
TEST_F(StreamBoundsTest, AReaderThatTakesALittleNowAndThenIsAmongThem) {
  const auto drip = reader("a");
  const auto second = reader("a"), third = reader("a");
  drip->stream->handOver(95, now);
  for (int i = 0; i < 10; ++i) {
    now += StreamBounds::kPatience;
    ++drip->peer.sent;
    drip->stream->isBehind(now);
  }
  second->stream->handOver(90, now);
  third->stream->handOver(90, now);
  EXPECT_FALSE(third->stream->isBehind(now + 100ms));
  EXPECT_TRUE(drip->peer.isClosed);
  EXPECT_FALSE(second->peer.isClosed);
}

// So that what is new is told meanwhile.
TEST_F(StreamBoundsTest, PagesAreGivenUpToHalfOfABound) {
  const auto first = reader("a"), second = reader("a"), third = reader("a");
  first->stream->handOver(90, now);
  EXPECT_TRUE(second->stream->takesPages(now));
  second->stream->handOver(90, now);
  EXPECT_FALSE(third->stream->takesPages(now + 1s));
  EXPECT_FALSE(third->stream->isBehind(now + 1s));
  const auto other = reader("b");
  EXPECT_TRUE(other->stream->takesPages(now + 1s));
  // Nor do those who do not read keep others from their pages.
  EXPECT_TRUE(third->stream->takesPages(now + StreamBounds::kPatience + 1s));
  EXPECT_EQ(bounds->closed(), 1U);
}

TEST_F(StreamBoundsTest, AStreamThatWasClosedOrHasEndedLeavesNothing) {
  auto one = reader("a");
  one->stream->handOver(5000, now);
  EXPECT_EQ(bounds->unsent(), 5000U);
  const auto other = reader("b");
  EXPECT_FALSE(other->stream->isBehind(now + StreamBounds::kPatience + 1s));
  EXPECT_TRUE(one->peer.isClosed);
  EXPECT_EQ(bounds->unsent(), 0U);
  one->stream->handOver(100, now);
  EXPECT_EQ(bounds->unsent(), 0U);
  other->stream->handOver(70, now);
  one.reset();
  EXPECT_EQ(bounds->unsent(), 70U);
}

TEST_F(StreamBoundsTest, OneAddressHasSoManyStreamsAndAProxyAnyNumber) {
  std::vector<std::unique_ptr<StreamBounds::Stream>> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(bounds->open("a"));
  EXPECT_THROW(bounds->open("a"), ServiceError);
  EXPECT_NO_THROW(bounds->open("b"));
  streams.pop_back();
  EXPECT_NO_THROW(bounds->open("a"));
  for (int i = 0; i < 10; ++i) streams.push_back(bounds->open(""));
}

TEST_F(StreamBoundsTest, ZeroStreamsOfAnAddressAreNoLimit) {
  auto limits = kLimits;
  limits.streamsPerAddress = 0;
  const auto unlimited = std::make_shared<StreamBounds>(limits);
  std::vector<std::unique_ptr<StreamBounds::Stream>> streams;
  for (int i = 0; i < 100; ++i) streams.push_back(unlimited->open("a"));
}

TEST_F(StreamBoundsTest, TheAddressIsThatOfTheClientBehindATrustedProxy) {
  auto limits = kLimits;
  limits.proxies = {*AddressRange::parse("0.0.0.0/32"), *AddressRange::parse("::/128")};
  const auto behindProxy = std::make_shared<StreamBounds>(limits);
  const auto request = drogon::HttpRequest::newHttpRequest();
  // Such a request has no peer: its address is 0.0.0.0.
  EXPECT_EQ(behindProxy->addressOf(*request), "") << "a proxy that names no client";
  request->addHeader("X-Forwarded-For", "10.0.0.1, 192.0.2.7");
  EXPECT_EQ(behindProxy->addressOf(*request), "192.0.2.7");
  EXPECT_NE(bounds->addressOf(*request), "192.0.2.7") << "that proxy is not trusted";
}

TEST(UnsentBytes, AreWhatWasHandedOverAndNotSent) {
  UnsentBytes bytes(500);
  EXPECT_EQ(bytes.unsent(500), 0U);
  bytes.handOver(100, 500);
  bytes.handOver(20, 500);
  EXPECT_EQ(bytes.unsent(500), 120U);
  EXPECT_EQ(bytes.unsent(501), 119U);
  EXPECT_EQ(bytes.unsent(620), 0U);
  EXPECT_EQ(bytes.unsent(640), 0U) << "with the frames of the chunks";
}

TEST(UnsentBytes, FramesOfManyEventsDoNotAddUp) {
  UnsentBytes bytes(0);
  std::size_t sent = 0;
  for (int i = 0; i < 10'000; ++i) {
    bytes.handOver(100, sent);
    sent += 107;
  }
  bytes.handOver(1000, sent);
  EXPECT_EQ(bytes.unsent(sent), 1000U);
}

}  // namespace festa::test
