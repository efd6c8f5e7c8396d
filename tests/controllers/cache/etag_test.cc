#include "controllers/cache/etag.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(Etag, IsStrongQuotedAndDependsOnEveryByte) {
  const auto tag = etagOf("[1,2,3]");
  EXPECT_EQ(tag.size(), 34U);
  EXPECT_EQ(tag.front(), '"');
  EXPECT_EQ(tag.back(), '"');
  EXPECT_EQ(tag, etagOf("[1,2,3]"));
  EXPECT_NE(tag, etagOf("[1,2,4]"));
  EXPECT_NE(tag, etagOf(""));
}

TEST(Etag, HeadersThatNameIt) {
  for (const auto* header : {R"("a")", R"(W/"a")", R"("b","a")", R"("b", W/"a")", R"( "a" )", "*",
                             R"("x,y", "a")", R"(,, "a")", R"("","a")"})
    EXPECT_TRUE(namesEtag(header, R"("a")")) << header;
}

TEST(Etag, HeadersThatDoNot) {
  for (const auto* header : {"", " ", ",", "a", R"("b")", R"("A")", R"("a)", R"(a")", R"(w/"a")",
                             R"("*")", R"(junk "a")", R"("b,"a",")", R"("aa")", "W/", R"(")"})
    EXPECT_FALSE(namesEtag(header, R"("a")")) << header;
}

}  // namespace festa::test
