#include "services/announcements/snapshot.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(Snapshot, SeesWhatHadCommittedWhenItWasTaken) {
  const auto snapshot = *Snapshot::parse("100:104:101,103");
  EXPECT_EQ(snapshot.text(), "100:104:101,103");
  for (const std::uint64_t xid : {1, 99, 100, 102}) EXPECT_TRUE(snapshot.sees(xid)) << xid;
  for (const std::uint64_t xid : {101, 103, 104, 1000}) EXPECT_FALSE(snapshot.sees(xid)) << xid;
}

TEST(Snapshot, WithoutRunningTransactionsEndsWithAColon) {
  const auto snapshot = *Snapshot::parse("100:100:");
  EXPECT_TRUE(snapshot.sees(99));
  EXPECT_FALSE(snapshot.sees(100));
}

TEST(Snapshot, TextsThatPostgresRefusesAreNoSnapshots) {
  for (const auto* text : {"",        ":",
                           "::",      "1",
                           "1:",      "1:2",
                           ":2:",     "1::",
                           "0:1:",    "2:1:",
                           "1:2:0",   "1:2:2",
                           "1:3:2,",  "1:3:,2",
                           "1:4:3,2", "1:4:2,2",
                           "a:2:",    "1:b:",
                           "1:2:c",   " 1:2:",
                           "1:2: ",   "-1:2:",
                           "+1:2:",   "1:2:;",
                           "1:2:1:",  "99999999999999999999:99999999999999999999:"})
    EXPECT_FALSE(Snapshot::parse(text)) << text;
}

TEST(Snapshot, UpToATransactionSeesWhatTheEarlierOneSawAndTheNewOnesUpToIt) {
  const auto before = *Snapshot::parse("100:110:101,103,105,109");
  const auto now = *Snapshot::parse("103:120:103,112,115");
  for (std::uint64_t last = 99; last < 120; ++last) {
    if (!now.sees(last)) continue;
    const auto part = now.upTo(last, before);
    for (std::uint64_t xid = 95; xid < 125; ++xid)
      EXPECT_EQ(part.sees(xid), before.sees(xid) || (xid <= last && now.sees(xid)))
          << part.text() << " " << xid;
    const auto read = Snapshot::parse(part.text());
    ASSERT_TRUE(read) << part.text();
    for (std::uint64_t xid = 95; xid < 125; ++xid) EXPECT_EQ(read->sees(xid), part.sees(xid));
  }
}

TEST(Snapshot, UpToTheLastTransactionOfAnEpochIsASnapshot) {
  const auto before = *Snapshot::parse("4294967290:4294967290:");
  const auto now = *Snapshot::parse("4294967301:4294967301:");
  const auto part = now.upTo(4294967295, before);
  EXPECT_TRUE(Snapshot::parse(part.text())) << part.text();
  EXPECT_TRUE(part.sees(4294967295));
  EXPECT_FALSE(part.sees(4294967299));
}

// What PostgreSQL looks at is the number without its epoch, the upper half.
TEST(Snapshot, TheFirstNumberOfAnEpochIsNoTransaction) {
  EXPECT_FALSE(Snapshot::parse("4294967296:4294967296:"));
  EXPECT_FALSE(Snapshot::parse("4294967296:4294967299:"));
  EXPECT_FALSE(Snapshot::parse("5:8589934592:"));
  EXPECT_TRUE(Snapshot::parse("4294967299:4294967299:"));
}

}  // namespace festa::test
