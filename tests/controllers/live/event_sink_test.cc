#include "controllers/live/event_sink.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

struct Reader {
  std::string received;
  bool isGone = false;
  bool isBehind = false;
  bool hasEnded = false;
};

class SinkOf : public EventSink {
 public:
  explicit SinkOf(Reader& reader) : reader_(reader) {}
  ~SinkOf() override { reader_.hasEnded = true; }
  SinkOf(const SinkOf&) = delete;
  SinkOf& operator=(const SinkOf&) = delete;

  bool send(const std::string& events) override {
    reader_.received += events;
    return !reader_.isGone;
  }
  bool isConnected() const override { return !reader_.isGone; }
  bool isBehind() const override { return reader_.isBehind; }
  bool takesPages() const override { return !reader_.isBehind; }
  double shareOfAddress() const override { return 0.25; }

 private:
  Reader& reader_;
};

class SharedSinkTest : public testing::Test {
 protected:
  Reader reader;
  SharedSink shared{std::make_unique<SinkOf>(reader)};
};

}  // namespace

TEST_F(SharedSinkTest, BothEndsHaveTheShareOfTheStream) {
  EXPECT_EQ(shared.first->shareOfAddress(), 0.25);
  EXPECT_EQ(shared.second->shareOfAddress(), 0.25);
  shared.first.reset();
  EXPECT_EQ(shared.second->shareOfAddress(), 0) << "it has ended";
}

TEST_F(SharedSinkTest, BothEndsWriteToOneStream) {
  EXPECT_TRUE(shared.first->send("a"));
  EXPECT_TRUE(shared.second->send("b"));
  EXPECT_EQ(reader.received, "ab");
  EXPECT_FALSE(reader.hasEnded);
}

TEST_F(SharedSinkTest, TheStreamEndsWithEitherEnd) {
  shared.second.reset();
  EXPECT_TRUE(reader.hasEnded);
  EXPECT_FALSE(shared.first->isConnected());
  EXPECT_FALSE(shared.first->send("a"));
  EXPECT_FALSE(shared.first->isBehind());
  EXPECT_EQ(reader.received, "");

  Reader other;
  SharedSink more{std::make_unique<SinkOf>(other)};
  more.first.reset();
  EXPECT_TRUE(other.hasEnded);
  EXPECT_FALSE(more.second->isConnected());
}

TEST_F(SharedSinkTest, AReaderThatHasGoneIsKnownToBoth) {
  reader.isGone = true;
  EXPECT_FALSE(shared.first->isConnected());
  EXPECT_FALSE(shared.second->send("a"));
}

TEST_F(SharedSinkTest, AReaderThatIsBehindIsBehindForBoth) {
  EXPECT_FALSE(shared.first->isBehind());
  EXPECT_FALSE(shared.second->isBehind());
  EXPECT_TRUE(shared.second->takesPages());
  reader.isBehind = true;
  EXPECT_TRUE(shared.first->isBehind());
  EXPECT_TRUE(shared.second->isBehind());
  EXPECT_FALSE(shared.second->takesPages());
}

TEST(EventText, HasTheFieldsThatAreGivenAndAnEmptyLine) {
  EXPECT_EQ(eventText({.event = "changes", .data = "{}"}), "event: changes\ndata: {}\n\n");
  EXPECT_EQ(eventText({.id = "7", .event = "e", .data = "d"}), "id: 7\nevent: e\ndata: d\n\n");
  EXPECT_EQ(eventText({.data = "d"}), "data: d\n\n");
  EXPECT_EQ(eventText({.id = "7"}), "id: 7\n\n");
}

}  // namespace festa::test
