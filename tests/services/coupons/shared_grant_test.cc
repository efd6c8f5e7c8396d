#include "services/coupons/shared_grant.h"

#include "controllers/http/protection.h"
#include "lock/memory/memory_lock_storage.h"
#include "services/coupons/coupon_service.h"
#include "services/idempotency/idempotency_service.h"
#include "tests/services/database_fixture.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/test_guard.h"

#include <gmock/gmock.h>

namespace festa::test {

namespace {

using lock::Millis;
using testing::ElementsAre;

class KeyReceipt : public Receipt<CouponClaim> {
 public:
  explicit KeyReceipt(IdempotencyAttempt attempt) : attempt_(std::move(attempt)) {}
  drogon::Task<> keep(Sql& sql, const CouponClaim& value) const override {
    return keepAnswer(sql, attempt_, answer(value));
  }
  const IdempotencyAttempt* attempt() const override { return &attempt_; }
  KeptAnswer answer(const CouponClaim& value) const override {
    return {201, std::to_string(value.sequence), ""};
  }

 private:
  const IdempotencyAttempt attempt_;
};

// Coupon 1, one per user; users 1 … 20. Requests on two loops hold its key together.
class SharedGrantTest : public DatabaseFixture {
 protected:
  SharedGrantTest() {
    session_.run(
        "INSERT INTO coupons (name, stock, remaining, one_per_user) VALUES ('c', 5, 5, true)");
    session_.run(
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " SELECT 'u' || n, '', 'n', 20, 'e', 'p' FROM generate_series(1, 20) AS n");
  }

  struct Wish {
    std::int64_t user;
    const Receipt<CouponClaim>* receipt = nullptr;
  };

  // Takes the key, with all that wait beside it, and claims.
  drogon::Task<CouponClaim> claim(const CouponService& service, Wish wish) {
    const lock::Strategy strategy{"memory", storage_.get()};
    const auto hold = std::make_shared<lock::LockHold>("coupons", strategy, "coupon:1");
    auto lease = co_await storage_->tryLock(request_);
    hold->grant(std::move(*lease));
    HeldLock held(*hold);
    WriteGuard guard;
    guard.hold = &held;
    guard.fence = hold->fence();
    std::optional<CouponClaim> claimed;
    std::exception_ptr failure;
    try {
      claimed = co_await service.claim(1, wish.user, guard, wish.receipt);
    } catch (...) {
      failure = std::current_exception();
    }
    const auto fence = co_await hold->renewFence(0);
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    if (!fence) ++finished_;
    while (!fence && finishedWait_) co_await drogon::sleepCoro(loop, 0.002);
    hold->leaveCompany();
    co_await hold->release();
    if (failure) std::rethrow_exception(failure);
    co_return *claimed;
  }

  // All of them stand in line, in this order, before the first is granted.
  std::vector<std::future<CouponClaim>> start(const std::vector<Wish>& wishes,
                                              const Database& database) {
    const auto& service = keptForever(std::make_unique<CouponService>(database));
    const auto first = runOn(loops2_.at(), [&] { return storage_->tryLock(request_); });
    std::vector<std::future<CouponClaim>> all;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
      all.push_back(startOn(loops2_.at(i % 2),
                            [this, &service, wish = wishes[i]] { return claim(service, wish); }));
      EXPECT_TRUE(eventually([&] { return storage_->waiters() == i + 1; }));
    }
    runOn(loops2_.at(), [&] { return storage_->unlock(first->clone()); });
    return all;
  }
  std::vector<std::future<CouponClaim>> start(const std::vector<Wish>& wishes) {
    return start(wishes, testDatabase(db_));
  }

  static std::vector<std::int64_t> sequencesOf(std::vector<std::future<CouponClaim>> all) {
    std::vector<std::int64_t> sequences;
    for (auto& one : all) sequences.push_back(finish(std::move(one)).sequence);
    return sequences;
  }
  static ErrorCode errorOf(std::future<CouponClaim> claim) {
    try {
      finish(std::move(claim));
    } catch (const ServiceError& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  }
  // Claims of the users 1, 2 and 3 that wait for the coupon's row, while `other` has not yet
  // committed a claim of user 2.
  std::vector<std::future<CouponClaim>> startBehindAClaim(PgSession& other) {
    other.run("BEGIN");
    other.run("UPDATE coupons SET remaining = 4, granted = 1");
    other.run(
        "INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user)"
        " VALUES (1, 2, 'DONE', 1, true)");
    auto all = start({{1}, {2}, {3}});
    EXPECT_TRUE(eventually([&] {
      return one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
    }));
    return all;
  }
  std::string transactions() { return one("SELECT count(DISTINCT xmin::text) FROM coupon_claims"); }

  // Members whose hold was finished by the one that wrote for them wait before they end.
  std::atomic<bool> finishedWait_{false};
  std::atomic<int> finished_{0};
  Loops loops2_{2};
  const std::shared_ptr<lock::MemoryLockStorage> storage_ =
      lock::MemoryLockStorage::create(1, loops2_.at());
  lock::LockRequest request_{"coupon:1", Millis{20'000}, Millis{6'000}, 64};
};

}  // namespace

TEST_F(SharedGrantTest, HoldersAreGrantedInTheOrderOfArrivalByOneCommit) {
  auto all = start({{7}, {3}, {9}, {1}, {4}});
  std::vector<CouponClaim> claims;
  for (auto& one : all) claims.push_back(finish(std::move(one)));
  for (std::size_t i = 0; i < claims.size(); ++i) {
    EXPECT_EQ(claims[i].sequence, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(claims[i].remaining, 4 - static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(transactions(), "1");
  EXPECT_EQ(one("SELECT string_agg(user_id::text, ' ' ORDER BY sequence) FROM coupon_claims"),
            "7 3 9 1 4");
  EXPECT_EQ(one("SELECT remaining || ' ' || granted FROM coupons"), "0 5");
  EXPECT_EQ(one("SELECT count(*) FROM coupon_claims q JOIN coupons c ON c.fence = q.fence"), "5");
}

TEST_F(SharedGrantTest, TheNextHolderNeedNotWaitUntilAllHaveBeenAnswered) {
  finishedWait_ = true;
  auto all = start({{1}, {2}, {3}});
  const auto next = runOn(loops2_.at(), [&] { return storage_->tryLock(request_); });
  EXPECT_EQ(one("SELECT granted FROM coupons"), "3") << "before COMMIT";
  EXPECT_TRUE(eventually([&] { return finished_ == 2; })) << "each has given back for itself";
  finishedWait_ = false;
  EXPECT_THAT(sequencesOf(std::move(all)), ElementsAre(1, 2, 3));
  EXPECT_EQ(runOn(loops2_.at(), [&] { return storage_->unlock(next->clone()); }),
            lock::Unlocked::kReleased);
}

TEST_F(SharedGrantTest, ItIsSoldOutAtTheExactPlace) {
  auto all = start({{1}, {2}, {3}, {4}, {5}, {6}, {7}});
  for (int i = 6; i >= 5; --i) {
    EXPECT_EQ(errorOf(std::move(all.back())), ErrorCode::kCouponSoldOut);
    all.pop_back();
  }
  EXPECT_THAT(sequencesOf(std::move(all)), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(SharedGrantTest, OneMemberWithoutAGrantLeavesNoGap) {
  session_.run(
      "INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user)"
      " VALUES (1, 2, 'DONE', 1, true)");
  session_.run("UPDATE coupons SET remaining = 4, granted = 1");
  auto all = start({{1}, {2}, {3}, {99}, {3}, {4}});
  EXPECT_EQ(finish(std::move(all[0])).sequence, 2);
  EXPECT_EQ(errorOf(std::move(all[1])), ErrorCode::kAlreadyClaimed);
  EXPECT_EQ(finish(std::move(all[2])).sequence, 3);
  EXPECT_EQ(errorOf(std::move(all[3])), ErrorCode::kUserNotFound);
  EXPECT_EQ(errorOf(std::move(all[4])), ErrorCode::kAlreadyClaimed) << "twice in one batch";
  EXPECT_EQ(finish(std::move(all[5])).sequence, 4);
  EXPECT_EQ(one("SELECT string_agg(sequence || ':' || user_id, ' ' ORDER BY sequence)"
                " FROM coupon_claims"),
            "1:2 2:1 3:3 4:4");
  EXPECT_EQ(one("SELECT remaining || ' ' || granted FROM coupons"), "1 4");
}

// The check of the foreign key would wait for it, with the coupon's row locked. No time-out ends a
// wait here.
TEST_F(SharedGrantTest, ALockedUserDelaysNeitherTheOthersNorTheNextHolders) {
  PgSession other(where_);
  other.run("BEGIN");
  other.run("SELECT 1 FROM users WHERE id = 3 FOR UPDATE");
  auto all = start({{1}, {2}, {3}, {4}});
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kLockTimeout);
  all.erase(all.begin() + 2);
  EXPECT_THAT(sequencesOf(std::move(all)), ElementsAre(1, 2, 3));
  EXPECT_EQ(transactions(), "1") << "the batch failed, and they were granted one by one";
  EXPECT_THAT(sequencesOf(start({{5}, {6}})), ElementsAre(4, 5)) << "while the user is locked";
  other.run("COMMIT");
}

// The statement waits for the coupon with a view of the claims from before.
TEST_F(SharedGrantTest, AClaimThatIsCommittedMeanwhileIsSeenBySendingItOnceMore) {
  PgSession other(where_);
  auto all = startBehindAClaim(other);
  other.run("COMMIT");
  EXPECT_EQ(errorOf(std::move(all[1])), ErrorCode::kAlreadyClaimed);
  all.erase(all.begin() + 1);
  EXPECT_THAT(sequencesOf(std::move(all)), ElementsAre(2, 3));
  EXPECT_EQ(transactions(), "2") << "the other one's, and one for all holders";
}

// As above, but the lease ends while the first statement waits.
TEST_F(SharedGrantTest, PastTheLeaseNothingIsSentAgain) {
  request_.lease = Millis{3'000};  // that can be waited for
  PgSession other(where_);
  auto all = startBehindAClaim(other);
  const auto next = runOn(loops2_.at(), [&] { return storage_->tryLock(request_); });
  ASSERT_TRUE(next) << "when the lease of the others is over";
  other.run("COMMIT");
  EXPECT_EQ(errorOf(std::move(all[0])), ErrorCode::kLockLost);
  EXPECT_EQ(errorOf(std::move(all[1])), ErrorCode::kAlreadyClaimed) << "which is only read";
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kLockLost);
  EXPECT_EQ(one("SELECT granted FROM coupons"), "1");
}

TEST_F(SharedGrantTest, ACouponThatIsNotThereIsNotFound) {
  session_.run("DELETE FROM coupons");
  auto all = start({{1}, {2}});
  for (auto& one : all) EXPECT_EQ(errorOf(std::move(one)), ErrorCode::kCouponNotFound);
}

// The coupon's row carries a larger fence, from another storage: the true owner goes on.
TEST_F(SharedGrantTest, ALargerFenceIsOvertakenByTheHolders) {
  session_.run("UPDATE coupons SET fence = (1::bigint << 32) + 1000");
  auto all = start({{1}, {2}, {3}});
  std::set<std::int64_t> sequences;
  for (auto& one : all) sequences.insert(finish(std::move(one)).sequence);
  EXPECT_THAT(sequences, ElementsAre(1, 2, 3));
  EXPECT_EQ(one("SELECT bool_and(fence > (1::bigint << 32) + 1000) FROM coupon_claims"), "t");
  EXPECT_EQ(one("SELECT fence > (1::bigint << 32) + 1000 FROM coupons"), "t") << "it went back";
}

TEST_F(SharedGrantTest, AnswersWithAKeyAreStoredInTheSameTransaction) {
  const IdempotencyService keys(testDatabase(db_), {});
  const IdempotencyAttempt own{"user", 1, "own", "o1"};
  const IdempotencyAttempt taken{"user", 3, "taken over", "o3"};
  for (const auto& attempt : {own, taken}) run([&] { return keys.take(attempt, "print"); });
  session_.run("UPDATE idempotency_keys SET owner = 'another' WHERE key = 'taken over'");
  const KeyReceipt first(own);
  const KeyReceipt third(taken);
  auto all = start({{1, &first}, {2}, {3, &third}, {4}});
  EXPECT_EQ(finish(std::move(all[0])).sequence, 1);
  EXPECT_EQ(finish(std::move(all[1])).sequence, 2);
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kRequestInProgress);
  EXPECT_EQ(finish(std::move(all[3])).sequence, 3);
  EXPECT_EQ(transactions(), "1");
  EXPECT_EQ(one("SELECT body FROM idempotency_keys WHERE status = 201"), "1");
}

// An equal fence would be taken for success by all of them; only five have a claim.
TEST_F(SharedGrantTest, ALostAcknowledgementIsResolvedForEachMemberByItsPlace) {
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto& database = keptForever(std::make_unique<TwoClients>(db_, connect(where, 1)));
  // The statement is prepared.
  session_.run("UPDATE coupons SET stock = 7, remaining = 7");
  EXPECT_THAT(sequencesOf(start({{19}, {20}}, database)), ElementsAre(1, 2));
  proxy.swallowReplies();
  auto all = start({{1}, {2}, {20}, {3}, {4}, {5}, {6}}, database);
  ASSERT_TRUE(eventually([&] { return one("SELECT granted FROM coupons") == "7"; }));
  proxy.cut();
  EXPECT_EQ(errorOf(std::move(all.back())), ErrorCode::kCouponSoldOut);
  all.pop_back();
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kAlreadyClaimed);
  all.erase(all.begin() + 2);
  EXPECT_THAT(sequencesOf(std::move(all)), ElementsAre(3, 4, 5, 6, 7));
}

// The claims cannot be read after it was found that they are committed: no member is granted again.
TEST_F(SharedGrantTest, CommittedClaimsThatCannotBeReadAreUnconfirmedNotGrantedTwice) {
  session_.run("UPDATE coupons SET one_per_user = false, stock = 100, remaining = 100");
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto& database = keptForever(std::make_unique<TwoClients>(db_, connect(where, 1)));
  EXPECT_THAT(sequencesOf(start({{19}, {20}}, database)), ElementsAre(1, 2));
  proxy.swallowReplies();
  auto all = start({{1}, {2}, {3}}, database);
  ASSERT_TRUE(eventually([&] { return one("SELECT granted FROM coupons") == "5"; }));
  // Reading claims fails from here on; the coupon's own row can be read.
  session_.run("ALTER TABLE coupon_claims RENAME TO hidden_claims");
  proxy.cut();
  for (auto& one : all) EXPECT_EQ(errorOf(std::move(one)), ErrorCode::kCommitUnconfirmed);
  EXPECT_EQ(one("SELECT granted FROM coupons"), "5");
}

// The session ends before it commits: nothing is stored, and no member is told otherwise.
TEST_F(SharedGrantTest, ATransactionThatDidNotCommitIsASuccessForNoMember) {
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto& database = keptForever(std::make_unique<TwoClients>(db_, connect(where, 1)));
  EXPECT_THAT(sequencesOf(start({{19}, {20}}, database)), ElementsAre(1, 2));
  PgSession other(where_);
  other.run("BEGIN");
  other.run("UPDATE coupons SET version = version + 1");
  auto all = start({{1}, {2}, {3}}, database);
  ASSERT_TRUE(eventually([&] {
    return one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
  }));
  session_.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
  other.run("COMMIT");
  for (auto& one : all) EXPECT_EQ(errorOf(std::move(one)), ErrorCode::kDatabaseUnavailable);
  EXPECT_EQ(one("SELECT granted FROM coupons"), "2");
}

}  // namespace festa::test
