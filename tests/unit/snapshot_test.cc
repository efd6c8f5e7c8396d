#include "services/snapshot.h"

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

// What PostgreSQL looks at is the number without its epoch, the upper half.
TEST(Snapshot, TheFirstNumberOfAnEpochIsNoTransaction) {
  EXPECT_FALSE(Snapshot::parse("4294967296:4294967296:"));
  EXPECT_FALSE(Snapshot::parse("4294967296:4294967299:"));
  EXPECT_FALSE(Snapshot::parse("5:8589934592:"));
  EXPECT_TRUE(Snapshot::parse("4294967299:4294967299:"));
}

}  // namespace festa::test
