#include "tests/support/history/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace festa::test {

namespace {

using End = History::End;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

History::Time at(std::int64_t nanos) {
  return History::Time(std::chrono::nanoseconds(nanos));
}

const History::Promises kFifo{.fifo = true};

class HistoryTest : public testing::Test {
 protected:
  void hold(const std::string& key, const std::string& who, std::int64_t fence, std::int64_t from,
            std::int64_t to, End how = End::kReleased) {
    history.granted(key, who, fence, at(from));
    history.ended(key, who, fence, at(to), how);
  }
  void share(const std::string& id, const std::string& who, std::int64_t fence, std::int64_t from,
             std::int64_t to) {
    history.granted("k", who, fence, at(from), id);
    history.ended("k", who, fence, at(to), End::kReleased);
  }
  // In line from `received` on, held at the times of its fence: one after the other.
  void queued(const std::string& who, std::int64_t sent, std::int64_t received,
              std::int64_t fence) {
    history.arrived("k", who, at(sent), at(received));
    hold("k", who, fence, 1000 + fence * 10, 1005 + fence * 10);
  }
  void commit(const std::string& who, std::int64_t fence, const std::string& row,
              std::int64_t sent = 0, std::int64_t acknowledged = 0) {
    history.committed("k", who, fence, row, at(sent), at(acknowledged));
  }

  History history;
};

}  // namespace

TEST_F(HistoryTest, NothingBreaksNoPromise) {
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, HoldsOneAfterTheOtherAreClean) {
  hold("k", "a", 1, 10, 20);
  hold("k", "b", 2, 20, 30);  // the very moment the other ends
  hold("k", "c", 3, 31, 31);
  hold("other", "d", 4, 12, 35);
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, ASharedHoldIsOneHolder) {
  hold("k", "before", 1, 10, 20);
  share("h1", "a", 2, 22, 40);
  share("h1", "b", 3, 21, 30);
  share("h2", "c", 4, 41, 60);
  share("h2", "d", 5, 42, 50);
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, AnOutsiderInASharedHoldIsSeen) {
  share("h1", "a", 2, 20, 30);
  share("h1", "b", 4, 21, 50);
  hold("k", "outsider", 3, 35, 40);
  EXPECT_THAT(history.check(), Contains(HasSubstr("outsider (fence 3) was granted while a")));
}

TEST_F(HistoryTest, AnOutsiderBetweenTheMembersOfASharedHoldIsSeen) {
  share("h1", "a", 2, 20, 30);
  hold("k", "outsider", 3, 35, 40);
  share("h1", "b", 4, 45, 50);
  EXPECT_THAT(history.check(), Contains(HasSubstr("outsider (fence 3) was granted while a")));
}

TEST_F(HistoryTest, TwoSharedHoldsAtOnceAreSeen) {
  share("h1", "a", 2, 20, 30);
  share("h2", "b", 3, 25, 50);
  EXPECT_THAT(history.check(), Contains(HasSubstr(" was granted while ")));
}

TEST_F(HistoryTest, MembersOfASharedHoldKeepTheOrderOfArrival) {
  history.arrived("k", "early", at(1), at(2));
  history.arrived("k", "late", at(3), at(4));
  share("h1", "early", 8, 20, 30);
  share("h1", "late", 7, 20, 30);
  EXPECT_THAT(history.check(), IsEmpty());
  EXPECT_THAT(history.check(kFifo), Contains(HasSubstr("early")));
}

TEST_F(HistoryTest, SharedHoldsAreReadBack) {
  share("h 1", "a", 2, 20, 30);
  History copy;
  copy.read(history.text());
  EXPECT_EQ(copy.text(), history.text());
}

TEST_F(HistoryTest, EventsMayComeInAnyOrder) {
  history.ended("k", "b", 2, at(30), End::kReleased);
  history.ended("k", "a", 1, at(20), End::kReleased);
  history.granted("k", "b", 2, at(20));
  history.granted("k", "a", 1, at(10));
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, TwoHoldsThatOverlapByOneNanosecondAreCaught) {
  hold("k", "a", 1, 10, 21);
  hold("k", "b", 2, 20, 30);
  EXPECT_THAT(history.check(),
              ElementsAre("key k: b (fence 2) was granted while a (fence 1) held it"));
}

TEST_F(HistoryTest, AHoldOfAnInstantInsideAnotherIsCaught) {
  hold("k", "a", 1, 10, 30);
  hold("k", "b", 2, 20, 20);
  EXPECT_THAT(history.check(), ElementsAre(HasSubstr("granted while a")));
}

TEST_F(HistoryTest, AnOverlapIsCaughtBehindAShorterHold) {
  hold("k", "long", 1, 10, 100);
  hold("k", "short", 2, 20, 30);
  hold("k", "late", 3, 50, 60);
  EXPECT_THAT(history.check(),
              UnorderedElementsAre(AllOf(HasSubstr("short"), HasSubstr("granted while long")),
                                   AllOf(HasSubstr("late"), HasSubstr("granted while long"))));
}

TEST_F(HistoryTest, AHoldWithoutEndLastsForEver) {
  history.granted("k", "a", 1, at(10));
  hold("k", "b", 2, 1'000'000, 1'000'001);
  EXPECT_THAT(history.check(), ElementsAre(HasSubstr("granted while a")));
}

TEST_F(HistoryTest, ALostOrExpiredHoldEndsWithItsLease) {
  hold("k", "a", 1, 10, 20, End::kLost);
  hold("k", "b", 2, 20, 30, End::kExpired);
  hold("k", "c", 3, 30, 40);
  EXPECT_THAT(history.check(), IsEmpty());
  hold("k", "d", 4, 39, 50, End::kLost);
  EXPECT_THAT(history.check(), ElementsAre(HasSubstr("granted while c")));
}

// Its grant reached it after its lease was over, when its successor had the key already.
TEST_F(HistoryTest, AGrantLearnedOfAfterItsEndOverlapsNoOtherHold) {
  hold("k", "b", 2, 30, 40);
  hold("k", "late", 1, 35, 20, End::kLost);
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, EqualFencesAreCaughtAlsoOnDifferentKeys) {
  hold("k", "a", 7, 10, 20);
  hold("other", "b", 7, 30, 40);
  EXPECT_THAT(history.check(), ElementsAre(AllOf(HasSubstr("same fence 7"), HasSubstr("a"))));
}

TEST_F(HistoryTest, AFenceThatGoesBackIsCaughtPerKey) {
  hold("k", "a", 5, 10, 20);
  hold("other", "b", 1, 30, 40);
  EXPECT_THAT(history.check(), IsEmpty());
  hold("k", "c", 4, 50, 60);
  EXPECT_THAT(history.check(), ElementsAre("key k: the fence of c (fence 4) is below that of a "
                                           "(fence 5), who was granted before"));
}

TEST_F(HistoryTest, AGrantGivenTwiceToOneRequestIsCaught) {
  hold("k", "a", 1, 10, 20);
  history.granted("k", "a", 2, at(30));
  EXPECT_THAT(history.check(), ElementsAre("key k: a was granted twice"));
}

TEST_F(HistoryTest, AnEndWithoutItsGrantIsCaught) {
  history.ended("k", "a", 1, at(10), End::kReleased);
  hold("k", "b", 2, 20, 30);
  history.ended("k", "b", 3, at(40), End::kReleased);
  history.ended("k", "b", 2, at(40), End::kReleased);
  EXPECT_THAT(history.check(), UnorderedElementsAre(HasSubstr("a ended a hold with fence 1 that"),
                                                    HasSubstr("b ended a hold with fence 3 that"),
                                                    HasSubstr("b (fence 2) ended twice")));
}

TEST_F(HistoryTest, RequestsThatWereUnderWayTogetherHaveNoOrder) {
  queued("a", 10, 20, 3);
  queued("b", 20, 30, 2);  // sent at the very moment a was received
  queued("c", 15, 40, 1);
  EXPECT_THAT(history.check(kFifo), IsEmpty());
}

TEST_F(HistoryTest, AGrantOutOfTurnIsCaughtWhereAnOrderIsPromised) {
  queued("a", 10, 20, 2);
  queued("b", 21, 30, 1);
  EXPECT_THAT(history.check(kFifo),
              ElementsAre("key k: a (fence 2) was received before b (fence 1) was sent, but "
                          "granted after it"));
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, EachThatWasPassedIsNamedOnce) {
  for (int i = 0; i < 5; ++i) queued("passed" + std::to_string(i), i, 5, 100 + i);
  for (int i = 0; i < 3; ++i) queued("n" + std::to_string(i), 10 + i, 100, i + 1);
  const auto broken = history.check(kFifo);
  EXPECT_EQ(broken.size(), 5U);
  EXPECT_THAT(broken,
              testing::Each(AllOf(HasSubstr("passed"), HasSubstr(" was received before n0"))));
}

TEST_F(HistoryTest, OneThatGaveUpHasNoPlaceInTheOrder) {
  history.arrived("k", "gave up", at(1), at(2));
  queued("a", 10, 20, 1);
  EXPECT_THAT(history.check(kFifo), IsEmpty());
}

TEST_F(HistoryTest, CommitsThatWereUnderWayTogetherHaveNoOrder) {
  commit("a", 2, "r1", 10, 20);
  commit("b", 1, "r2", 20, 30);
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, ACommitWithALowerFenceThanAnEarlierOneIsCaught) {
  commit("a", 2, "r1", 10, 20);
  commit("c", 3, "r3", 11, 50);
  commit("b", 1, "r2", 21, 30);
  EXPECT_THAT(history.check(), ElementsAre("key k: b committed with fence 1 after a had with 2"));
}

TEST_F(HistoryTest, EachSuccessWithItsRowIsClean) {
  commit("a", 1, "r1");
  commit("b", 2, "r2");
  history.answered("a", 201, "r1");
  history.answered("b", 200, "r2");
  history.answered("c", 409, "");
  EXPECT_THAT(history.check(), IsEmpty());
}

TEST_F(HistoryTest, ASuccessWithoutItsRowIsCaught) {
  history.answered("a", 201, "r1");
  history.answered("b", 299, "");
  history.answered("c", 300, "");
  EXPECT_THAT(history.check(), UnorderedElementsAre("a was answered 201, but there is no row 'r1'",
                                                    "b was answered 299, but there is no row ''"));
}

TEST_F(HistoryTest, ARowWithoutItsSuccessIsCaughtUnlessItsAnswerIsUnknown) {
  commit("no answer", 1, "r1");
  commit("unknown", 2, "r2");
  history.answered("unknown", 500, "");
  EXPECT_THAT(history.check(), IsEmpty());
  commit("refused", 3, "r3");
  history.answered("refused", 503, "");
  EXPECT_THAT(history.check(), ElementsAre("row r3 exists, but refused was answered 503"));
  EXPECT_THAT(history.check({.unknown = {500, 503}}), IsEmpty());
}

TEST_F(HistoryTest, ASuccessThatNamesAnotherRequestsRowIsCaught) {
  commit("a", 1, "r1");
  history.answered("a", 201, "r1");
  history.answered("b", 201, "r1");
  EXPECT_THAT(history.check(), ElementsAre("b was answered 201 with row r1, which is of a"));
}

TEST_F(HistoryTest, ASuccessThatNamesTheWrongRowIsCaught) {
  commit("a", 1, "r1");
  history.answered("a", 201, "r2");
  EXPECT_THAT(history.check(), UnorderedElementsAre(HasSubstr("a was told of row 'r2'"),
                                                    HasSubstr("there is no row 'r2'")));
}

TEST_F(HistoryTest, ARowStoredTwiceIsCaught) {
  commit("a", 1, "r1");
  commit("b", 2, "r1");
  EXPECT_THAT(history.check(), ElementsAre("row r1 was stored twice, by a and b"));
}

TEST_F(HistoryTest, TwoRowsOfOneRequestAreCaught) {
  commit("a", 1, "r1");
  commit("a", 2, "r2");
  history.answered("a", 201, "r1");
  EXPECT_THAT(history.check(), ElementsAre("a stored two rows, r1 and r2"));
}

TEST_F(HistoryTest, TwoAnswersToOneRequestAreCaught) {
  history.answered("a", 409, "");
  history.answered("a", 409, "");
  EXPECT_THAT(history.check(), ElementsAre("a was answered twice"));
}

TEST_F(HistoryTest, HistoriesAreWrittenAndReadAgainByLines) {
  const std::string odd("a b%\n\0\xff", 7);
  history.arrived(odd, "who", at(1), at(2));
  history.granted(odd, "who", 3, at(4));
  history.ended(odd, "who", 3, at(5), End::kLost);
  commit("who", 3, odd, 6, 7);
  history.answered("who", 500, "");
  History copy;
  copy.read(history.text());
  EXPECT_EQ(copy.size(), 5U);
  EXPECT_EQ(copy.text(), history.text());
  EXPECT_EQ(history.text(),
            "arrived a%20b%25%0a%00%ff who 1 2\n"
            "granted a%20b%25%0a%00%ff who 3 4\n"
            "ended a%20b%25%0a%00%ff who 3 5 lost\n"
            "committed k who 3 a%20b%25%0a%00%ff 6 7\n"
            "answered who 500 %\n");
}

TEST_F(HistoryTest, ADoubleBetweenTwoProcessesIsSeenInTheirMergedLogs) {
  hold("k", "a", 1, 10, 30);
  History other;
  other.granted("k", "b", 2, at(20));
  other.ended("k", "b", 2, at(25), End::kReleased);
  EXPECT_THAT(history.check(), IsEmpty());
  EXPECT_THAT(other.check(), IsEmpty());
  history.read(other.text());
  EXPECT_THAT(history.check(), ElementsAre(HasSubstr("granted while a")));
}

TEST_F(HistoryTest, LinesThatAreNoEventsAreRefused) {
  for (const auto* line : {"", "granted", "granted k a 1", "granted k a 1 2 3 4", "granted k a x 2",
                           "granted k a 1 2x", "gone k a 1 2", "ended k a 1 2 somehow",
                           "granted %zz a 1 2", "granted k%0 a 1 2"})
    EXPECT_THROW(history.read(std::string(line) + "\n"), std::invalid_argument) << line;
  EXPECT_EQ(history.size(), 0U);
}

TEST_F(HistoryTest, ManyThreadsMayRecordTogether) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 1000; ++i)
        history.answered(std::to_string(thread) + "." + std::to_string(i), 409, "");
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(history.size(), 4000U);
  EXPECT_THAT(history.check(), IsEmpty());
}

// Comparing each with each would take minutes.
TEST_F(HistoryTest, OneDoubleAmongAHundredThousandEventsIsFound) {
  constexpr int kRequests = 20'000;
  for (int i = 0; i < kRequests; ++i) {
    const auto who = "w" + std::to_string(i);
    history.arrived("k", who, at(2 * i), at(2 * i + 1));
    hold("k", who, i + 1, 100'000 + 10 * i, 100'000 + 10 * i + (i == 12'345 ? 11 : 10));
    commit(who, i + 1, "r" + std::to_string(i), 100'000 + 10 * i, 100'000 + 10 * i + 5);
    history.answered(who, 201, "r" + std::to_string(i));
  }
  EXPECT_EQ(history.size(), 100'000U);
  EXPECT_THAT(history.check({.fifo = true}), ElementsAre(HasSubstr("granted while w12345")));
}

}  // namespace festa::test
