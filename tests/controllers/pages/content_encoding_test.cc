#include "controllers/pages/content_encoding.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(ContentEncoding, TheBestThatIsNamedIsChosen) {
  for (const auto* header : {"br", "gzip, br", "gzip, deflate, br;q=0.1", "BR", " br ; q=1 ,gzip"})
    EXPECT_EQ(bestEncoding(header), ContentEncoding::kBrotli) << header;
  for (const auto* header : {"gzip", "deflate, gzip;q=0.5", "gzip, br;q=0", "br;q=0.000,gzip"})
    EXPECT_EQ(bestEncoding(header), ContentEncoding::kGzip) << header;
}

TEST(ContentEncoding, WhatIsNotNamedIsNotUsed) {
  for (const auto* header :
       {"", "identity", "*", "deflate", "zstd", "gzip;q=0", "brotli", ",,;", "q=1"})
    EXPECT_EQ(bestEncoding(header), ContentEncoding::kIdentity) << header;
}

}  // namespace festa::test
