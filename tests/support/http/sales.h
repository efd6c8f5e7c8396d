// What is for sale in tests, and to whom.
#pragma once

#include "tests/support/servers/service.h"

#include <string>
#include <vector>

namespace festa::test {

// Written straight into the service's database.
class Sales {
 public:
  explicit Sales(const Config::Database& database) : database_(database) {}

  // Users 1 … count exist afterwards.
  void haveUsers(int count) const;
  static Headers as(std::int64_t user);

  // At the demo's place, with one section "A"; the reservation window is open unless said.
  std::int64_t performance(int seats, const std::string& opensAt = "now() - interval '1 day'",
                           const std::string& closesAt = "now() + interval '1 day'") const;
  std::int64_t coupon(std::int64_t stock, bool onePerUser) const;
  // Begins a transaction with claims of these users of a coupon that each may have once: another
  // claim of theirs waits until it has ended.
  static std::string openClaims(std::int64_t coupon, int firstUser, int lastUser);

  std::int64_t number(const std::string& query, std::int64_t parameter) const;

  struct Seats {
    std::int64_t sold;       // active reservations
    std::int64_t different;  // seats that have one
    std::int64_t marked;     // seats that say so
    std::int64_t twice() const { return sold - different; }
  };
  Seats seatsOf(std::int64_t performance) const;

 private:
  const Config::Database database_;
};

std::string reservationPath(std::int64_t performance);
std::string reservationBody(std::int64_t user, int seat, const std::string& location = "A");

}  // namespace festa::test
