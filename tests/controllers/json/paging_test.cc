#include "controllers/json/paging.h"

#include "services/error.h"

#include <gtest/gtest.h>

#include <map>

namespace festa::test {

namespace {

PageRequest parsed(const std::map<std::string, std::string>& parameters) {
  const auto request = drogon::HttpRequest::newHttpRequest();
  for (const auto& [name, value] : parameters) request->setParameter(name, value);
  return parsePaging(*request);
}

void expectRefused(const std::map<std::string, std::string>& parameters) {
  try {
    parsed(parameters);
    ADD_FAILURE() << testing::PrintToString(parameters) << " was accepted";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
  }
}

}  // namespace

TEST(PagingTest, WithoutParametersTheFirstTen) {
  const auto page = parsed({});
  EXPECT_EQ(page.page, 0);
  EXPECT_EQ(page.perPage, 10);
  EXPECT_EQ(page.after, 0);
  EXPECT_EQ(page.offset(), 0);
}

TEST(PagingTest, PagesCountFromZero) {
  const auto page = parsed({{"page", "3"}, {"perPage", "500"}});
  EXPECT_EQ(page.offset(), 1500);
  EXPECT_EQ(parsed({{"page", "0"}, {"perPage", "1"}}).offset(), 0);
}

TEST(PagingTest, AfterSkipsNothing) {
  const auto page = parsed({{"after", "9223372036854775807"}, {"perPage", "20"}});
  EXPECT_EQ(page.after, 9223372036854775807);
  EXPECT_EQ(page.offset(), 0);
  EXPECT_EQ(parsed({{"after", "0"}}).after, 0);
}

TEST(PagingTest, WhatIsNotANumberInItsRangeIsRefused) {
  for (const auto* text : {"", " ", "a", "1a", "+1", " 1", "1 ", "-1", "1.0", "0x1", "١",
                           "9223372036854775808", "99999999999999999999"})
    for (const auto* name : {"page", "perPage", "after"}) expectRefused({{name, text}});
  expectRefused({{"perPage", "0"}});
  expectRefused({{"perPage", "501"}});
}

TEST(PagingTest, TheLastPageThatIsAcceptedDoesNotOverflow) {
  EXPECT_GT(parsed({{"page", "18446744073709551"}, {"perPage", "500"}}).offset(), 0);
  expectRefused({{"page", "18446744073709552"}, {"perPage", "500"}});
}

TEST(PagingTest, PageAndAfterExcludeEachOther) {
  expectRefused({{"page", "0"}, {"after", "0"}});
  expectRefused({{"page", "1"}, {"after", "5"}, {"perPage", "10"}});
}

TEST(PagingTest, AListRefusesTheWordsThatItDoesNotTake) {
  const auto isRefused = [](Paged list, const std::string& word) {
    const auto request = drogon::HttpRequest::newHttpRequest();
    request->setParameter(word, "1");
    try {
      refuseOtherPaging(*request, list);
      return false;
    } catch (const ServiceError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
      EXPECT_EQ(error.fields().at(0).field, word);
      return true;
    }
  };
  for (const auto* word : {"page", "perPage", "after"}) {
    EXPECT_TRUE(isRefused(Paged::kWhole, word)) << word;
    EXPECT_EQ(isRefused(Paged::kByAfter, word), word != std::string("after")) << word;
    EXPECT_FALSE(isRefused(Paged::kByPage, word)) << word;
    EXPECT_FALSE(isRefused(Paged::kNoList, word)) << word;
  }
  for (const auto list : {Paged::kWhole, Paged::kByAfter})
    EXPECT_FALSE(isRefused(list, "utm_source")) << "what is unknown is ignored";
}

TEST(PagingTest, TheEnvelopeRepeatsWhatWasAskedFor) {
  const auto paging = pagingOf(parsed({{"page", "2"}, {"perPage", "7"}}), 15);
  EXPECT_EQ(paging.totalCount, 15);
  EXPECT_EQ(paging.currentPage, 2);
  EXPECT_EQ(paging.perPage, 7);
}

}  // namespace festa::test
