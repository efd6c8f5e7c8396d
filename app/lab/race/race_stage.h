// The rows of a race in the database: made before it, judged after it.
#pragma once

#include "app/lab/race/race_plan.h"
#include "app/startup/pg_session.h"
#include "services/accounts/token_service.h"

#include <cstdint>
#include <string>
#include <vector>

namespace festa {

// What one person sends.
struct RaceRequest {
  std::string path;  // a POST's
  std::string body;  // "": none
  std::string token;
  std::string place;  // as RaceLane has it
};

// One thing that the database says about a race.
struct RaceFact {
  const char* name;
  std::int64_t expected;
  std::int64_t found;
  bool holds;
};

// Serves one strategy's run. Blocks: not for an event loop. Not thread-safe.
//
// The accounts of crowds are the same for all races, and of earlier races' rows the newest few are
// kept: a lab does not grow with its races.
class RaceStage {
 public:
  // All outlive the stage.
  RaceStage(PgSession& session, const TokenService& tokens, const RaceWish& wish,
            const RacePlan& plan)
      : session_(session), tokens_(tokens), wish_(wish), plan_(plan) {}

  // Makes the rows; the request of each person of the plan. Throws std::runtime_error.
  std::vector<RaceRequest> prepare();

  // What is stored when all have been answered; `accepted` of them with a success.
  std::vector<RaceFact> judge(std::int64_t accepted);

 private:
  struct Account {
    std::int64_t id;
    std::string login;
    std::int64_t passwordVersion;
  };

  void sweep();
  std::vector<RaceRequest> preparePins();
  std::vector<RaceRequest> prepareSeats();
  std::vector<RaceRequest> prepareCoupon();
  std::vector<Account> users();
  std::vector<Account> councils();
  std::vector<Account> accounts(const std::string& rows);
  std::string tokenOf(const Account& account, Realm realm) const;
  std::int64_t number(const std::string& query);  // $1 is the race's row
  std::vector<RaceFact> judgePins(std::int64_t accepted);
  std::vector<RaceFact> judgeSeats(std::int64_t accepted);
  std::vector<RaceFact> judgeCoupon(std::int64_t accepted);

  PgSession& session_;
  const TokenService& tokens_;
  const RaceWish& wish_;
  const RacePlan& plan_;
  std::string id_;  // the festival's, performance's or coupon's; set by prepare()
};

}  // namespace festa
