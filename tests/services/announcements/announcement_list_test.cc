#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

namespace festa::test {

namespace {

constexpr std::int64_t kMebi = 1024 * 1024;

using Ids = std::vector<std::int64_t>;

Ids idsOf(const std::vector<Announcement>& announcements) {
  Ids ids;
  for (const auto& announcement : announcements) ids.push_back(announcement.id);
  return ids;
}

class AnnouncementListTest : public DatabaseFixture {
 protected:
  AnnouncementListTest() {
    session_.run(
        "INSERT INTO festivals (university_name, festival_name, start_date, end_date)"
        " SELECT 'U', 'F', now(), now() FROM generate_series(1, 3)");
  }

  // Unpinned ones whose texts have this length in all.
  void add(int festival, int count, int length) {
    session_.query(
        "INSERT INTO announcements (festival_id, title, content, is_pinned)"
        " SELECT $1::bigint, 't', repeat('c', $3::int - 1), false FROM generate_series(1, $2::int)",
        {std::to_string(festival), std::to_string(count), std::to_string(length)});
  }

  AnnouncementPage list(std::int64_t festival, std::optional<std::int64_t> after = {},
                        std::int64_t bytes = kMebi) {
    return run([&] { return service_.list(festival, after, bytes); });
  }

  // Rows of the table that the service's only connection has read.
  std::int64_t rowsRead() {
    run([this]() -> drogon::Task<> {
      co_await single_->execSqlCoro("SELECT pg_stat_force_next_flush()");
    });
    return std::stoll(
        one("SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables"
            " WHERE relname = 'announcements'"));
  }

  const drogon::orm::DbClientPtr single_ = connect(where_, 1);
  const AnnouncementService service_{testDatabase(single_)};
};

}  // namespace

TEST_F(AnnouncementListTest, EndsWhenTheUnpinnedOnesTakeMoreThanTheBytes) {
  add(1, 1000, 900);
  EXPECT_EQ(list(1, {}, 1).unpinned.size(), 64U);
  EXPECT_EQ(list(1, {}, 64'000).unpinned.size(), 64U);
  EXPECT_EQ(list(1, {}, 64'001).unpinned.size(), 128U);
  EXPECT_EQ(list(1, {}, 999'999).unpinned.size(), 1000U);
  EXPECT_EQ(list(1, {}, kMebi).unpinned.size(), 1000U);
}

TEST_F(AnnouncementListTest, PagesBeginWhereTheOneBeforeEnded) {
  add(1, 300, 900);
  add(2, 100, 900);
  Ids all;
  std::optional<std::int64_t> after;
  for (auto page = list(1, after, 1); !page.unpinned.empty(); page = list(1, after, 1)) {
    for (const auto id : idsOf(page.unpinned)) all.push_back(id);
    after = all.back();
  }
  Ids expected;
  for (std::int64_t id = 300; id > 0; --id) expected.push_back(id);
  EXPECT_EQ(all, expected);
}

TEST_F(AnnouncementListTest, PinnedOnesComeWithTheFirstPageOnlyAndDeletedOnesNever) {
  add(1, 5, 10);
  session_.run("UPDATE announcements SET is_pinned = true, pin_slot = id WHERE id IN (1, 3)");
  session_.run("UPDATE announcements SET deleted_at = now() WHERE id = 4");
  const auto first = list(1);
  EXPECT_EQ(idsOf(first.pinned), (Ids{3, 1}));
  EXPECT_EQ(idsOf(first.unpinned), (Ids{5, 2}));
  const auto second = list(1, 5);
  EXPECT_EQ(idsOf(second.pinned), Ids{});
  EXPECT_EQ(idsOf(second.unpinned), Ids{2});
  EXPECT_EQ(list(3).unpinned.size(), 0U);
}

TEST_F(AnnouncementListTest, AnUnknownFestivalIsToldFromAnEmptyOne) {
  EXPECT_THROW(list(99), ServiceError);
  EXPECT_THROW(list(99, 7), ServiceError);
}

// Statistics decide how PostgreSQL finds rows: none yet, and good ones. Other festivals' rows are
// newer, older and more.
TEST_F(AnnouncementListTest, HardlyMoreRowsAreReadThanReturnedWhateverTheStatisticsSay) {
  add(1, 20'000, 1000);
  add(2, 50'000, 10);
  add(1, 2'000, 1000);
  add(2, 50'000, 10);
  for (const bool analyzed : {false, true}) {
    if (analyzed) session_.run("ANALYZE announcements");
    // PostgreSQL may plan anew from the sixth time on.
    for (int time = 0; time < 8; ++time)
      for (const auto after :
           {std::optional<std::int64_t>(), std::optional<std::int64_t>(15'000)}) {
        const auto before = rowsRead();
        const auto returned = static_cast<std::int64_t>(list(1, after).unpinned.size());
        const auto read = rowsRead() - before;
        EXPECT_GE(returned, kMebi / 1100);
        EXPECT_LE(returned, kMebi / 1100 + 64);
        EXPECT_GE(read, returned) << "the figures are not there yet";
        EXPECT_LE(read, returned + 64) << "analyzed: " << analyzed << ", time " << time;
      }
  }
}

}  // namespace festa::test
