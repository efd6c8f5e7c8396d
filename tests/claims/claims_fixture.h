// Coupon claims through queues, on instances of the real binary.
#pragma once

#include "tests/support/http/crowd.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/rabbit_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace festa::test {

class ClaimsFixture : public testing::Test {
 protected:
  // Settings of instances that queue their claims on the broker at this port. Every test has queues
  // of its own. Patient, as those below: time-outs of the database are no subject here.
  Service::Settings onBroker(int port, Service::Settings more = {}) const {
    more.insert({{"LAB", "true"},
                 {"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-rabbitmq"},
                 {"RABBITMQ_HOST", "127.0.0.1"},
                 {"RABBITMQ_PORT", std::to_string(port)},
                 {"RABBITMQ_PREFIX", prefix_},
                 {"QUEUE_SWEEP_SECONDS", "1"},
                 {"DATABASE_CONNECTIONS", "8"}});
    return patient(std::move(more));
  }
  static Service::Settings local(Service::Settings more = {}) {
    more.insert({{"LAB", "true"}, {"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"}});
    return patient(std::move(more));
  }

  void start(int count, const Service::Settings& settings) {
    for (int i = 0; i < count; ++i)
      instances_.push_back(std::make_unique<Service>(database_, settings));
    for (auto& instance : instances_) awaitQueue(*instance);
    sales_.haveUsers(1000);
  }
  // The broker is connected.
  static void awaitQueue(const Service& service) {
    ASSERT_TRUE(
        eventually([&] { return service.client().get("/readyz").json()["degraded"].empty(); }));
  }

  Response claim(const Service& service, std::int64_t coupon, int user) const {
    return service.client().request("POST", "/coupons/" + std::to_string(coupon) + "/claims",
                                    Sales::as(user));
  }
  // Users first … last one after the other, over the instances in turn: each is accepted before the
  // next one asks. A broker that has just come back may not confirm in time at first; claims are
  // then refused for a moment.
  void claimInTurn(std::int64_t coupon, int first, int last) const {
    for (int user = first; user <= last; ++user) {
      const auto& instance = *instances_[static_cast<std::size_t>(user) % instances_.size()];
      const auto answer = untilServed([&] { return claim(instance, coupon, user); });
      ASSERT_EQ(answer.status, 202) << answer.body;
    }
  }

  std::int64_t count(std::int64_t coupon, const std::string& condition) const {
    return sales_.number(
        "SELECT count(*) FROM coupon_claims WHERE coupon_id = $1::bigint AND " + condition, coupon);
  }
  std::int64_t done(std::int64_t coupon) const { return count(coupon, "state = 'DONE'"); }
  bool allFinished(std::int64_t coupon) const {
    return count(coupon, "state IN ('NEW', 'PROCESSED')") == 0;
  }

  // Exactly the stock is granted, in the order of arrival, without a gap; the others are sold out.
  void expectGrantedInOrder(std::int64_t coupon, int claims, int stock) const {
    EXPECT_EQ(count(coupon, "true"), claims);
    EXPECT_EQ(done(coupon), stock);
    EXPECT_EQ(count(coupon, "state = 'FAILED' AND code = 'COUPON_SOLD_OUT'"), claims - stock);
    EXPECT_EQ(sales_.number("SELECT count(*) FROM (SELECT sequence, row_number() OVER (ORDER BY id)"
                            " AS place FROM coupon_claims WHERE coupon_id = $1::bigint) AS claims"
                            " WHERE sequence IS DISTINCT FROM CASE WHEN place <= " +
                                std::to_string(stock) + " THEN place END",
                            coupon),
              0)
        << "not in order of arrival, or with a gap";
    EXPECT_EQ(sales_.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon), 0);
  }

  const std::string prefix_ = newPrefix();
  const Config::Database database_ = sharedPg().createDatabase();
  const Sales sales_{database_};
  std::vector<std::unique_ptr<Service>> instances_;

 private:
  static std::string newPrefix() {
    static int number = 0;
    return "claims" + std::to_string(++number);
  }
};

}  // namespace festa::test
