#include "app/lab/race/race_plan.h"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

namespace festa {

namespace {

constexpr std::int64_t kPins = 3;
// Requests "at the same moment" arrive within this time.
constexpr std::int64_t kSameMomentMicros = 20'000;
constexpr std::int64_t kOpeningMicros = 1'000'000;

struct SubjectRow {
  RaceSubject subject;
  const char* name;
  const char* lockable;
};

constexpr std::array kSubjects{
    SubjectRow{RaceSubject::kPins, "pins", "announcement-pins"},
    SubjectRow{RaceSubject::kHotSeat, "hot-seat", "seats"},
    SubjectRow{RaceSubject::kOpeningSecond, "opening-second", "seats"},
    SubjectRow{RaceSubject::kCoupon, "coupon", "coupons"},
};

const SubjectRow& rowOf(RaceSubject subject) {
  return *std::find_if(kSubjects.begin(), kSubjects.end(),
                       [subject](const SubjectRow& row) { return row.subject == subject; });
}

std::int64_t prizesOf(const RaceWish& wish) {
  switch (wish.subject) {
    case RaceSubject::kPins: return kPins;
    case RaceSubject::kHotSeat: return 1;
    case RaceSubject::kOpeningSecond:
    case RaceSubject::kCoupon: return std::max<std::int64_t>(1, wish.people / 2);
  }
  return 1;
}

// Seats with small numbers are chosen more often.
std::int32_t popularSeat(double chance, std::int64_t seats) {
  const auto seat = 1 + static_cast<std::int64_t>(chance * chance * static_cast<double>(seats));
  return static_cast<std::int32_t>(std::min(seat, seats));
}

}  // namespace

const char* nameOf(RaceSubject subject) {
  return rowOf(subject).name;
}

const char* lockableOf(RaceSubject subject) {
  return rowOf(subject).lockable;
}

const std::vector<std::string>& raceSubjectNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(kSubjects.size());
    for (const auto& row : kSubjects) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

RaceSubject raceSubjectOf(const std::string& name) {
  for (const auto& row : kSubjects)
    if (name == row.name) return row.subject;
  throw std::invalid_argument("no subject of a race: " + name);
}

RacePlan planOf(const RaceWish& wish) {
  std::mt19937_64 random(wish.seed);
  const bool isOpening = wish.subject == RaceSubject::kOpeningSecond;
  std::uniform_int_distribution<std::int64_t> arrival(
      0, isOpening ? kOpeningMicros : kSameMomentMicros);
  std::uniform_real_distribution<> chance(0, 1);
  RacePlan plan;
  plan.prizes = prizesOf(wish);
  plan.mostPerPrize = wish.subject == RaceSubject::kPins ? kPins : 1;
  for (std::int64_t i = 0; i < wish.people; ++i) {
    RacePerson person{std::chrono::microseconds(arrival(random)), 0};
    if (wish.subject == RaceSubject::kHotSeat) person.seat = 1;
    if (isOpening) person.seat = popularSeat(chance(random), plan.prizes);
    plan.people.push_back(person);
  }
  // In the order in which they arrive: a page draws one lane below the other.
  std::stable_sort(plan.people.begin(), plan.people.end(),
                   [](const RacePerson& a, const RacePerson& b) { return a.arrives < b.arrives; });
  return plan;
}

}  // namespace festa
