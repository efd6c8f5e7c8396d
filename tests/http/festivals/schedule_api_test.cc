#include "tests/http/api_test.h"

#include <cstdlib>
#include <ctime>

namespace festa::test {

namespace {

// The zone in which it is past noon, less than an hour: no test of today meets midnight.
std::string zoneAtNoon() {
  const auto utcHour = std::time(nullptr) / 3600 % 24;
  const auto eastward = 12 - utcHour;
  // These names count to the west.
  return (eastward > 0 ? "Etc/GMT-" : "Etc/GMT+") + std::to_string(std::abs(eastward));
}

const auto kZone = zoneAtNoon();

class ScheduleApi : public ApiTest {
 protected:
  static void SetUpTestSuite() {
    service =
        std::make_unique<Service>(sharedPg().createDatabase(), patient({{"TIMEZONE", kZone}}));
  }
  Response addDate(const std::string& date) {
    return call("POST", "/event-dates", R"({"date":")" + date + R"("})");
  }
  std::string dateId(const std::string& date) {
    const auto made = addDate(date);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.json()["eventDateId"].asString();
  }
  static std::string event(const std::string& date, const std::string& start,
                           const std::string& end, const std::string& title = "공연",
                           const std::string& location = "무대") {
    return R"({"eventDateId":)" + date + R"(,"startTime":")" + start + R"(","endTime":")" + end +
           R"(","title":")" + title + R"(","location":")" + location + R"("})";
  }
  Response addEvent(const std::string& body) { return call("POST", "/event-dates/events", body); }
  Headers asReader() const { return {{"festival", std::to_string(festival)}}; }
  Response events(const std::string& date) {
    return client.get("/event-dates/" + date + "/events", asReader());
  }
  // A day as the festivals' zone has it, so many days from now.
  static std::string day(int offset) {
    return inDatabase("SELECT ((now() AT TIME ZONE $1::text)::date + $2::int)::text",
                      {kZone, std::to_string(offset)});
  }
};

}  // namespace

TEST_F(ScheduleApi, DatesAreListedInTheirOrder) {
  for (const auto* date : {"2026-05-21", "2026-05-20", "2026-06-01"}) addDate(date);
  const auto dates = client.get("/event-dates", asReader()).json();
  ASSERT_EQ(dates.size(), 3U);
  EXPECT_EQ(dates[0]["date"].asString(), "2026-05-20");
  EXPECT_EQ(dates[1]["date"].asString(), "2026-05-21");
  EXPECT_EQ(dates[2]["date"].asString(), "2026-06-01");
}

TEST_F(ScheduleApi, ADateIsUniqueInAFestival) {
  const auto first = dateId("2026-05-20");
  const auto second = dateId("2026-05-21");
  expectProblem(addDate("2026-05-20"), 409, "ALREADY_REGISTERED_EVENT_DATE");
  const auto path = "/event-dates/" + second;
  expectProblem(call("PATCH", path, R"({"date":"2026-05-20"})"), 409,
                "ALREADY_REGISTERED_EVENT_DATE");
  EXPECT_EQ(call("PATCH", path, R"({"date":"2026-05-21"})").status, 200) << "the date it has";
  EXPECT_EQ(client.send("POST", "/event-dates", R"({"date":"2026-05-20"})", service->newFestival())
                .status,
            201)
      << "of another festival";
  EXPECT_EQ(call("DELETE", "/event-dates/" + first).status, 204);
  EXPECT_EQ(call("PATCH", path, R"({"date":"2026-05-20"})").status, 200) << "it is free again";
}

TEST_F(ScheduleApi, DatesThatNoCalendarHasAre422) {
  for (const auto* date : {"2026-02-30", "2026-5-1", "tomorrow", ""})
    EXPECT_EQ(rejectedFields(addDate(date)), std::set<std::string>{"date"});
}

TEST_F(ScheduleApi, ADateTakesItsEventsWithIt) {
  const auto date = dateId("2026-05-20");
  ASSERT_EQ(addEvent(event(date, "10:00", "11:00")).status, 201);
  ASSERT_EQ(events(date).json().size(), 1U);
  ASSERT_EQ(call("DELETE", "/event-dates/" + date).status, 204);
  expectProblem(events(date), 404, "EVENT_DATE_NOT_FOUND");
  EXPECT_EQ(inDatabase("SELECT count(*) FROM events WHERE event_date_id = $1::bigint", {date}),
            "0");
}

TEST_F(ScheduleApi, EventsAreListedByTime) {
  const auto date = dateId("2026-05-20");
  for (const auto& [start, end, title] :
       {std::tuple{"18:00", "19:00", "c"}, std::tuple{"09:30", "10:00", "a"},
        std::tuple{"18:00", "18:30", "b"}})
    ASSERT_EQ(addEvent(event(date, start, end, title)).status, 201);
  std::string titles;
  for (const auto& item : events(date).json()) titles += item["title"].asString();
  EXPECT_EQ(titles, "abc");
  EXPECT_EQ(events(date).json()[0]["startTime"].asString(), "09:30");
  EXPECT_EQ(events(date).json()[0]["endTime"].asString(), "10:00");
}

TEST_F(ScheduleApi, AnEventsStatusFollowsTheClock) {
  const auto status = [this](const std::string& date, const char* start, const char* end) {
    return addEvent(event(date, start, end)).json()["status"].asString();
  };
  const auto yesterday = dateId(day(-1)), today = dateId(day(0)), tomorrow = dateId(day(1));
  EXPECT_EQ(status(yesterday, "00:00", "23:59"), "COMPLETED");
  EXPECT_EQ(status(today, "00:00", "23:59"), "ONGOING");
  EXPECT_EQ(status(tomorrow, "00:00", "23:59"), "UPCOMING");
  // An end before the start is on the next day.
  EXPECT_EQ(status(yesterday, "23:59", "23:58"), "ONGOING");
  EXPECT_EQ(status(yesterday, "00:01", "00:00"), "COMPLETED");
}

TEST_F(ScheduleApi, AnEventMovesToAnotherDate) {
  const auto from = dateId("2026-05-20"), to = dateId("2026-05-21");
  const auto id = addEvent(event(from, "10:00", "11:00")).json()["eventId"].asString();
  ASSERT_EQ(call("PATCH", "/event-dates/events/" + id, event(to, "10:00", "11:00")).status, 200);
  EXPECT_EQ(events(from).body, "[]");
  EXPECT_EQ(events(to).json()[0]["eventId"].asString(), id);
}

TEST_F(ScheduleApi, TheDateOfAnEventIsOneOfItsFestival) {
  const auto date = dateId("2026-05-20");
  const auto id = addEvent(event(date, "10:00", "11:00")).json()["eventId"].asString();
  const auto foreign =
      client.send("POST", "/event-dates", R"({"date":"2026-05-20"})", service->newFestival())
          .json()["eventDateId"]
          .asString();
  const auto path = "/event-dates/events/" + id;
  expectProblem(addEvent(event(foreign, "10:00", "11:00")), 403, "EVENT_DATE_NOT_IN_FESTIVAL");
  expectProblem(call("PATCH", path, event(foreign, "10:00", "11:00")), 403,
                "EVENT_DATE_NOT_IN_FESTIVAL");
  expectProblem(addEvent(event("999999999", "10:00", "11:00")), 404, "EVENT_DATE_NOT_FOUND");
  expectProblem(call("PATCH", path, event("999999999", "10:00", "11:00")), 404,
                "EVENT_DATE_NOT_FOUND");
  expectProblem(events("abc"), 400, "INVALID_PARAMETER");
}

TEST_F(ScheduleApi, TimesAreHoursAndMinutes) {
  const auto date = dateId("2026-05-20");
  for (const auto* time : {"24:00", "12:60", "9:00", "12:00:00", "noon", ""}) {
    EXPECT_EQ(rejectedFields(addEvent(event(date, time, "11:00"))),
              std::set<std::string>{"startTime"});
    EXPECT_EQ(rejectedFields(addEvent(event(date, "11:00", time))),
              std::set<std::string>{"endTime"});
  }
}

TEST_F(ScheduleApi, TitlesHaveAtMost255CharactersAndPlaces100) {
  const auto date = dateId("2026-05-20");
  EXPECT_EQ(
      addEvent(event(date, "10:00", "11:00", repeated("가", 255), repeated("나", 100))).status,
      201);
  EXPECT_EQ(rejectedFields(
                addEvent(event(date, "10:00", "11:00", repeated("가", 256), repeated("나", 101)))),
            (std::set<std::string>{"title", "location"}));
}

}  // namespace festa::test
