#include "services/write/sql_array.h"

#include <gtest/gtest.h>

#include <vector>

namespace festa::test {

TEST(SqlArray, NumbersStandSeparatedByCommas) {
  EXPECT_EQ(sqlArray(std::vector<std::int64_t>{}), "{}");
  EXPECT_EQ(sqlArray(std::vector<std::int64_t>{7}), "{7}");
  EXPECT_EQ(sqlArray(std::vector<std::int64_t>{1, -2, 9223372036854775807}),
            "{1,-2,9223372036854775807}");
}

TEST(SqlArray, TextIsQuotedSoThatNoCharacterEndsIt) {
  SqlArray array;
  array.add("A").add("").add("a,b}").add("say \"hi\"").add("back\\slash").add("NULL").addNull();
  EXPECT_EQ(array.take(), R"({"A","","a,b}","say \"hi\"","back\\slash","NULL",NULL})");
}

TEST(SqlArray, IsEmptyAfterItWasTaken) {
  SqlArray array;
  array.add(1);
  array.take();
  EXPECT_EQ(array.take(), "{}");
}

}  // namespace festa::test
