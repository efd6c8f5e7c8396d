#include "services/queue/pending_confirms.h"

#include <gmock/gmock.h>

namespace festa::test {

namespace {

using queue::PendingConfirms;
using queue::SteadyTime;
using testing::ElementsAre;
using testing::IsEmpty;

const SteadyTime kStart{};

PendingConfirms<char> sent(const std::string& values) {
  PendingConfirms<char> pending;
  for (std::uint64_t i = 0; i < values.size(); ++i)
    pending.add(i + 1, values[i], kStart + std::chrono::seconds(i));
  return pending;
}

}  // namespace

TEST(PendingConfirms, AConfirmSettlesOneOrAllUpToIt) {
  auto pending = sent("abcde");
  EXPECT_THAT(pending.settle(2, false), ElementsAre('b'));
  EXPECT_THAT(pending.settle(4, true), ElementsAre('a', 'c', 'd'));
  EXPECT_THAT(pending.takeAll(), ElementsAre('e'));
  EXPECT_TRUE(pending.isEmpty());
}

TEST(PendingConfirms, AConfirmOfWhatIsSettledOrWasNeverSentChangesNothing) {
  auto pending = sent("ab");
  pending.settle(1, false);
  EXPECT_THAT(pending.settle(1, false), IsEmpty());
  EXPECT_THAT(pending.settle(1, true), IsEmpty());
  EXPECT_THAT(pending.settle(9, false), IsEmpty());
  EXPECT_THAT(pending.takeAll(), ElementsAre('b'));
}

TEST(PendingConfirms, TheOneThatWaitsLongestIsDueFirst) {
  auto pending = sent("abc");
  EXPECT_EQ(pending.deadline(), kStart);
  pending.settle(1, false);
  EXPECT_EQ(pending.deadline(), kStart + std::chrono::seconds(1));
  pending.settle(3, true);
  EXPECT_EQ(pending.deadline(), std::nullopt);
}

}  // namespace festa::test
