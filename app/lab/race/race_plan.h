// What a race of the lab is about, and what each person of its crowd does.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace festa {

inline constexpr std::int64_t kMostRacePeople = 2000;

enum class RaceSubject {
  kPins,           // all pin an announcement of one festival; three may
  kHotSeat,        // all want one seat
  kOpeningSecond,  // twice as many people as seats come within a second; the front is popular
  kCoupon,         // twice as many people as the coupon's stock
};

// The names are those of the API.
const char* nameOf(RaceSubject subject);
const std::vector<std::string>& raceSubjectNames();
// `name` is one of them.
RaceSubject raceSubjectOf(const std::string& name);
// The Lockable that a subject's writes go through.
const char* lockableOf(RaceSubject subject);

struct RaceWish {
  RaceSubject subject = RaceSubject::kPins;
  std::int64_t people = 100;            // 2 … kMostRacePeople
  std::vector<std::string> strategies;  // one, or two that run one after the other
  bool backstop = false;
  bool releasesBeforeCommit = false;
  std::uint64_t seed = 1;  // the same wish and seed give the same plan
};

struct RacePerson {
  std::chrono::microseconds arrives;  // after the start
  std::int32_t seat;                  // its number, from 1; 0: the subject has no seats
};

// All strategies of a race have the same plan.
struct RacePlan {
  std::vector<RacePerson> people;
  std::int64_t prizes;        // seats, or the coupon's stock; 3 for pins
  std::int64_t mostPerPrize;  // winners that one RaceLane::won may have; 3 for pins
};

RacePlan planOf(const RaceWish& wish);

}  // namespace festa
