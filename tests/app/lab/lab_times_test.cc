#include "app/lab/lab_times.h"

#include "app/config/instance_name.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(LabTimes, AreReadBackAsTheyWereWritten) {
  const LabTimes all{"web1:8080", "released", 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(labTimesIn(textOf(all)), all);
  const LabTimes few{"web1:8080", "busy", 9, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(textOf(few), "instance=web1:8080;outcome=busy;asked=9");
  EXPECT_EQ(labTimesIn(textOf(few)), few);
}

TEST(LabTimes, OtherTextsAreRefused) {
  for (const auto* text : {"", "asked=1", "instance=a;asked=", "instance=a;asked=1x",
                           "instance=a;b", "instance=a;unknown=1", "on"})
    EXPECT_EQ(labTimesIn(text), std::nullopt) << text;
}

TEST(InstanceName, HasNothingThatAHeaderOrARowCouldNotCarry) {
  EXPECT_EQ(instanceName("web-1.example", 8080), "web-1.example:8080");
  EXPECT_EQ(instanceName("a b;c=d\n", 1), "a_b_c_d_:1");
  EXPECT_EQ(instanceName("", 65535), "unnamed:65535");
  EXPECT_LE(instanceName(std::string(300, 'x'), 65535).size(), 80U);
}

}  // namespace festa::test
