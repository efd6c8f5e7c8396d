#include "services/accounts/login_name.h"

#include <gtest/gtest.h>

#include <string>

namespace festa::test {

TEST(LoginName, NfcComposesWhatWasDecomposed) {
  EXPECT_EQ(toNfc("e\u0301"), "\u00e9");
  EXPECT_EQ(toNfc("\u1100\u1161\u11a8"), "\uac01");
  EXPECT_EQ(toNfc("\u212b"), "\u00c5");
  EXPECT_EQ(toNfc("a\u0323\u0307"), toNfc("a\u0307\u0323")) << "marks have one order";
}

TEST(LoginName, NfcLeavesTheRestAlone) {
  for (const std::string text : {"", "kim", "김축제", "\uac01", "ﬁ", "①", "Ａ", "😀", " a "})
    EXPECT_EQ(toNfc(text), text) << text;
}

TEST(LoginName, NfcIsStable) {
  for (const std::string text :
       {"e\u0301\u0323x", "\u0344", "\u0958", "\u2126\u0301", "\u1112\u1161\u11ab"})
    EXPECT_EQ(toNfc(toNfc(text)), toNfc(text)) << text;
}

TEST(LoginName, InvisibleCharactersAreFound) {
  for (const std::string text :
       {"\n",         "\r",        "\t",     "\x1f",   "\x7f",       "\u0080",     "\u009f",
        "\u00ad",     "\u034f",    "\u061c", "\u115f", "\u1160",     "\u180e",     "\u200b",
        "\u200c",     "\u200d",    "\u200e", "\u200f", "\u2028",     "\u2029",     "\u202a",
        "\u202e",     "\u2060",    "\u2066", "\u2069", "\u3164",     "\ufe0f",     "\ufeff",
        "\uffa0",     "\ufff9",    "\uffff", "\ue000", "\U0001d173", "\U000e0001", "\U000e0100",
        "\U000f0000", "\U0010ffff"}) {
    EXPECT_TRUE(hasInvisible(text)) << testing::PrintToString(text);
    EXPECT_TRUE(hasInvisible("a" + text + "b")) << testing::PrintToString(text);
  }
  for (const std::string text : {"", "kim lee", "김축제", "é", "שלום", "علي", "😀", "~!@#$%^&*()"})
    EXPECT_FALSE(hasInvisible(text)) << text;
}

TEST(LoginName, SpacesAtTheEndsAreFound) {
  for (const std::string space :
       {" ", "\u00a0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000"}) {
    EXPECT_TRUE(hasSpaceAtEnds(space + "a")) << testing::PrintToString(space);
    EXPECT_TRUE(hasSpaceAtEnds("a" + space)) << testing::PrintToString(space);
    EXPECT_FALSE(hasSpaceAtEnds("a" + space + "b")) << testing::PrintToString(space);
  }
  EXPECT_FALSE(hasSpaceAtEnds(""));
}

}  // namespace festa::test
