// Every route that writes is answered after its commit: its session ends after the rows were sent.
#include "tests/chaos/session_trap.h"
#include "tests/support/http/sales.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <set>

namespace festa::test {

namespace {

enum class By { kAnyone, kUser, kCouncil, kNewcomer, kAdmin };

// `<lineups>` in a path, a body or a condition stands for the id of such a row of the test's
// festival, `<festival>` for the festival's.
struct WritingRoute {
  std::string name;  // of the test
  std::string method;
  std::string path;    // as it is called
  std::string routed;  // as the OpenAPI document has it; "": the same
  By by;
  std::string body;
  TrappedWrite write;

  std::string route() const { return method + ' ' + (routed.empty() ? path : routed); }
};

const std::string kUnknown = "COMMIT_UNCONFIRMED";
const std::string kUnavailable = "DATABASE_UNAVAILABLE";

std::string exists(const std::string& rows) {
  return "EXISTS (SELECT 1 FROM " + rows + ')';
}
std::string ofFestival(const std::string& table, const std::string& condition) {
  return exists(table + " WHERE festival_id = <festival> AND " + condition);
}
std::string isGone(const std::string& table) {
  return "NOT " + exists(table + " WHERE id = <" + table + '>');
}

std::vector<WritingRoute> accountsAndFestivals() {
  return {
      {"Council",
       "POST",
       "/councils",
       "",
       By::kAdmin,
       R"({"festivalId":<festival>,"username":"new<festival>","password":"right-password-1"})",
       {"INSERT ON councils", exists("councils WHERE username = 'new<festival>'"), 201, kUnknown}},
      {"Password",
       "PATCH",
       "/councils/password",
       "",
       By::kNewcomer,
       R"({"currentPassword":"council-demo-1","newPassword":"right-password-2"})",
       {"UPDATE ON councils", ofFestival("councils", "password_version > 0"), 200, kUnknown}},
      {"User",
       "POST",
       "/users",
       "",
       By::kAnyone,
       R"({"userId":"new<festival>","userPw":"right-password-1","name":"n","age":21,)"
       R"("email":"festa@example.com","phone":"010-1234-5678"})",
       {"INSERT ON users", exists("users WHERE login = 'new<festival>'"), 200, kUnknown}},
      {"Festival",
       "POST",
       "/festivals",
       "",
       By::kAdmin,
       R"({"universityName":"u<festival>","festivalName":"f","startDate":"2026-05-20",)"
       R"("endDate":"2026-05-21"})",
       {"INSERT ON festivals", exists("festivals WHERE university_name = 'u<festival>'"), 201,
        kUnknown}},
      {"Information",
       "PATCH",
       "/festivals/information",
       "",
       By::kCouncil,
       R"({"festivalName":"changed","startDate":"2026-05-20","endDate":"2026-05-21",)"
       R"("userVisible":true})",
       {"UPDATE ON festivals",
        exists("festivals WHERE id = <festival> AND festival_name = 'changed'"), 200, kUnknown}},
      {"Guide",
       "PATCH",
       "/festivals/lost-item-guide",
       "",
       By::kCouncil,
       R"({"lostItemGuide":"changed"})",
       {"UPDATE ON festivals",
        exists("festivals WHERE id = <festival> AND lost_item_guide = 'changed'"), 200, kUnknown}},
  };
}

std::vector<WritingRoute> announcements() {
  return {
      {"Announcement",
       "POST",
       "/announcements",
       "",
       By::kCouncil,
       R"({"title":"made","content":"c","isPinned":true})",
       {"INSERT ON announcements", ofFestival("announcements", "title = 'made'"), 201}},
      {"AnnouncementText",
       "PATCH",
       "/announcements/<announcements>",
       "/announcements/{id}",
       By::kCouncil,
       R"({"title":"changed","content":"c"})",
       {"UPDATE ON announcements", ofFestival("announcements", "title = 'changed'"), 200,
        kUnknown}},
      {"AnnouncementPin",
       "PATCH",
       "/announcements/<announcements>/pin",
       "/announcements/{id}/pin",
       By::kCouncil,
       R"({"pinned":true})",
       {"UPDATE ON announcements", ofFestival("announcements", "is_pinned"), 200}},
      {"AnnouncementGone",
       "DELETE",
       "/announcements/<announcements>",
       "/announcements/{id}",
       By::kCouncil,
       "",
       {"UPDATE ON announcements", ofFestival("announcements", "deleted_at IS NOT NULL"), 204}},
      {"Notification",
       "POST",
       "/announcements/<announcements>/notifications",
       "/announcements/{id}/notifications",
       By::kCouncil,
       "",
       {"INSERT ON announcement_notifications", ofFestival("announcement_notifications", "true"),
        200, kUnknown}},
  };
}

std::vector<WritingRoute> schedule() {
  const std::string lineup =
      R"({"name":"made","imageUrl":"","performanceAt":"2026-05-20T18:00:00"})";
  const std::string event = R"({"eventDateId":<event_dates>,"startTime":"10:00","endTime":"11:00",)"
                            R"("title":"made","location":"l"})";
  return {
      {"Lineup",
       "POST",
       "/lineups",
       "",
       By::kCouncil,
       lineup,
       {"INSERT ON lineups", ofFestival("lineups", "name = 'made'"), 201, kUnknown}},
      {"LineupChange",
       "PATCH",
       "/lineups/<lineups>",
       "/lineups/{id}",
       By::kCouncil,
       lineup,
       {"UPDATE ON lineups", ofFestival("lineups", "name = 'made'"), 200, kUnknown}},
      {"LineupGone",
       "DELETE",
       "/lineups/<lineups>",
       "/lineups/{id}",
       By::kCouncil,
       "",
       {"DELETE ON lineups", isGone("lineups"), 204, kUnknown}},
      {"EventDate",
       "POST",
       "/event-dates",
       "",
       By::kCouncil,
       R"({"date":"2027-05-20"})",
       {"INSERT ON event_dates", ofFestival("event_dates", "date = '2027-05-20'"), 201}},
      {"EventDateChange",
       "PATCH",
       "/event-dates/<event_dates>",
       "/event-dates/{id}",
       By::kCouncil,
       R"({"date":"2027-05-20"})",
       {"UPDATE ON event_dates", ofFestival("event_dates", "date = '2027-05-20'"), 200}},
      {"EventDateGone",
       "DELETE",
       "/event-dates/<event_dates>",
       "/event-dates/{id}",
       By::kCouncil,
       "",
       {"DELETE ON event_dates", isGone("event_dates"), 204, kUnknown}},
      {"Event",
       "POST",
       "/event-dates/events",
       "",
       By::kCouncil,
       event,
       {"INSERT ON events", ofFestival("events", "title = 'made'"), 201, kUnknown}},
      {"EventChange",
       "PATCH",
       "/event-dates/events/<events>",
       "/event-dates/events/{id}",
       By::kCouncil,
       event,
       {"UPDATE ON events", ofFestival("events", "title = 'made'"), 200, kUnknown}},
      {"EventGone",
       "DELETE",
       "/event-dates/events/<events>",
       "/event-dates/events/{id}",
       By::kCouncil,
       "",
       {"DELETE ON events", isGone("events"), 204, kUnknown}},
  };
}

std::vector<WritingRoute> questionsAndLostItems() {
  const std::string question = R"({"question":"made","answer":"a"})";
  const std::string item = R"({"imageUrl":"https://example.com/a.jpg","storageLocation":"made"})";
  return {
      {"Question",
       "POST",
       "/questions",
       "",
       By::kCouncil,
       question,
       {"INSERT ON questions", ofFestival("questions", "question = 'made'"), 201}},
      {"QuestionOrder",
       "PATCH",
       "/questions/sequences",
       "",
       By::kCouncil,
       R"([{"questionId":<questions>,"sequence":7}])",
       {"UPDATE ON questions", ofFestival("questions", "sequence = 7"), 200}},
      {"QuestionChange",
       "PATCH",
       "/questions/<questions>",
       "/questions/{id}",
       By::kCouncil,
       question,
       {"UPDATE ON questions", ofFestival("questions", "question = 'made'"), 200, kUnknown}},
      {"QuestionGone",
       "DELETE",
       "/questions/<questions>",
       "/questions/{id}",
       By::kCouncil,
       "",
       {"DELETE ON questions", isGone("questions"), 204, kUnknown}},
      {"LostItem",
       "POST",
       "/lost-items",
       "",
       By::kCouncil,
       item,
       {"INSERT ON lost_items", ofFestival("lost_items", "storage_location = 'made'"), 201,
        kUnknown}},
      {"LostItemChange",
       "PATCH",
       "/lost-items/<lost_items>",
       "/lost-items/{id}",
       By::kCouncil,
       item,
       {"UPDATE ON lost_items", ofFestival("lost_items", "storage_location = 'made'"), 200,
        kUnknown}},
      {"LostItemStatus",
       "PATCH",
       "/lost-items/<lost_items>/status",
       "/lost-items/{id}/status",
       By::kCouncil,
       R"({"pickupStatus":"COMPLETED"})",
       {"UPDATE ON lost_items", ofFestival("lost_items", "pickup_status = 'COMPLETED'"), 200,
        kUnknown}},
      {"LostItemGone",
       "DELETE",
       "/lost-items/<lost_items>",
       "/lost-items/{id}",
       By::kCouncil,
       "",
       {"DELETE ON lost_items", isGone("lost_items"), 204, kUnknown}},
  };
}

std::vector<WritingRoute> salesAndCoupons() {
  return {
      {"Performance",
       "POST",
       "/performance",
       "",
       By::kAdmin,
       R"({"placeId":1,"category":"PLAY","startAt":"2026-05-20 10:00:00",)"
       R"("endAt":"2026-05-20 11:00:00","startReservationAt":"2026-05-01 10:00:00",)"
       R"("endReservationAt":"2026-05-02 10:00:00","title":"t<festival>","content":"c",)"
       R"("acting":"a","filmRating":"ALL","price":0,"seats":[{"location":"A","seatCount":1}]})",
       {"INSERT ON seats", exists("performances WHERE title = 't<festival>'"), 200, kUnknown}},
      {"Sale",
       "POST",
       "/customer/performances/<performances>/reservations",
       "/customer/performances/{id}/reservations",
       By::kUser,
       R"({"userId":1,"seatLocation":"A","seatNumber":1})",
       {"INSERT ON reservations", exists("reservations WHERE performance_id = <performances>"),
        200}},
      {"Cancellation",
       "DELETE",
       "/customer/reservations/<reservations>",
       "/customer/reservations/{rid}",
       By::kUser,
       "",
       {"UPDATE ON reservations",
        exists("reservations WHERE id = <reservations> AND cancelled_at IS NOT NULL"), 204,
        kUnknown}},
      {"Coupon",
       "POST",
       "/coupons",
       "",
       By::kAdmin,
       R"({"name":"n<festival>","stock":1,"onePerUser":false})",
       {"INSERT ON coupons", exists("coupons WHERE name = 'n<festival>'"), 201, kUnknown}},
      {"Claim",
       "POST",
       "/coupons/<coupons>/claims",
       "/coupons/{id}/claims",
       By::kUser,
       "",
       {"INSERT ON coupon_claims", exists("coupon_claims WHERE coupon_id = <coupons>"), 201}},
  };
}

std::vector<WritingRoute> allRoutes() {
  std::vector<WritingRoute> all;
  for (const auto& some : {accountsAndFestivals(), announcements(), schedule(),
                           questionsAndLostItems(), salesAndCoupons()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// Routes with a method of writing that store nothing; TheOthersStoreNothing tries them.
const std::set<std::string> kStoringNothing{"POST /councils/login", "POST /users/login"};

// One service for all; a festival and a council with a password for each.
class WrittenRoutes : public testing::TestWithParam<WritingRoute> {
 protected:
  static void SetUpTestSuite() { start({}); }
  static void start(const Service::Settings& settings) {
    service_ = std::make_unique<Service>(sharedPg().createDatabase(), patient(settings));
    trap_ = std::make_unique<SessionTrap>(service_->database());
  }
  static void TearDownTestSuite() {
    trap_.reset();
    service_.reset();
  }

  WrittenRoutes() : council_(service_->newFestival()) {
    ids_["festival"] = std::to_string(service_->lastFestival());
  }

  // The id of a row of this kind, which is made when it is first asked for.
  std::string idOf(const std::string& kind) {
    static const std::map<std::string, std::string> kColumns{
        {"announcements", "title, content, is_pinned) VALUES ($1::bigint, 't', 'c', false"},
        {"lineups", "name, image_url, performance_at) VALUES ($1::bigint, 'n', '', now()"},
        {"event_dates", "date) VALUES ($1::bigint, '2026-05-20'"},
        {"questions", "question, answer, sequence) VALUES ($1::bigint, 'q', 'a', 1"},
        {"lost_items", "image_url, storage_location) VALUES ($1::bigint, 'https://a', 's'"}};
    const Sales sales(service_->database());
    auto& id = ids_[kind];
    if (!id.empty()) return id;
    if (kind == "performances") return id = std::to_string(sales.performance(1));
    if (kind == "coupons") return id = std::to_string(sales.coupon(5, true));
    if (kind == "reservations") return id = soldReservation();
    if (kind == "events")
      return id = inserted(kind,
                           "event_date_id, start_time, end_time, title, location) VALUES"
                           " ($1::bigint, " +
                               idOf("event_dates") + ", '10:00', '11:00', 't', 'l'");
    return id = inserted(kind, kColumns.at(kind));
  }
  std::string inserted(const std::string& table, const std::string& columns) {
    return *admin_.query("INSERT INTO " + table + " (festival_id, " + columns + ") RETURNING id",
                         {ids_["festival"]})[0][0];
  }
  std::string soldReservation() {
    const auto sale = untilServed("POST", reservationPath(std::stoll(idOf("performances"))),
                                  reservationBody(1, 1), Sales::as(1));
    EXPECT_EQ(sale.status, 200) << sale.body;
    return sale.json()["content"]["id"].asString();
  }
  // The sessions that the test before has ended are replaced after a second.
  static Response untilServed(const std::string& method, const std::string& path,
                              const std::string& body, const Headers& headers) {
    Response answer;
    eventually([&] {
      answer = service_->client().send(method, path, body, headers);
      return answer.status != 503;
    });
    return answer;
  }

  std::string filled(std::string text) {
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<')) {
      const auto end = text.find('>', at);
      const auto id = idOf(text.substr(at + 1, end - at - 1));
      text.replace(at, end - at + 1, id);
    }
    return text;
  }

  // A council of the festival whose password is known.
  Headers newcomer() {
    const auto name = "newcomer-of-" + ids_["festival"];
    admin_.query(
        "INSERT INTO councils (festival_id, username, password_hash, role)"
        " SELECT $1::bigint, $2, password_hash, role FROM councils WHERE username = 'council1'",
        {ids_["festival"], name});
    return service_->as(name);
  }
  Headers headersOf(By by) {
    switch (by) {
      case By::kAnyone: return {};
      case By::kUser: return Sales::as(1);
      case By::kCouncil: return council_;
      case By::kNewcomer: return newcomer();
      case By::kAdmin: break;
    }
    return service_->as("admin");
  }

  void expectHonest() {
    const auto& route = GetParam();
    auto write = route.write;
    write.isStored = filled(write.isStored);
    const auto path = filled(route.path);
    const auto body = filled(route.body);
    const auto headers = headersOf(route.by);
    trap_->expectHonest(write, [&] {
      return body.empty() ? service_->client().request(route.method, path, headers)
                          : service_->client().send(route.method, path, body, headers);
    });
  }

  static inline std::unique_ptr<Service> service_;
  static inline std::unique_ptr<SessionTrap> trap_;
  PgSession admin_{service_->database()};
  const Headers council_;
  std::map<std::string, std::string> ids_;
};

// The routes whose writes share transactions, without sharing.
class WrittenRoutesOneByOne : public WrittenRoutes {
 protected:
  static void SetUpTestSuite() {
    start({{"DATABASE_BATCH_MEMBERS", "1"}, {"LOCK_LOCKABLES_COUPONS_TOGETHER", "1"}});
  }
};

std::vector<WritingRoute> sharingRoutes() {
  std::vector<WritingRoute> routes;
  for (auto& route : allRoutes())
    if (route.name == "Sale" || route.name == "Claim") routes.push_back(std::move(route));
  return routes;
}

// The document's operations of which a client expects an effect. A start fails where the document
// and the routes differ.
std::set<std::string> documented(const Service& service) {
  std::set<std::string> operations;
  const auto paths = service.client().get("/openapi.json").json()["paths"];
  for (const auto& path : paths.getMemberNames())
    for (const auto& method : paths[path].getMemberNames()) {
      std::string name = method;
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      const bool isWrite = std::set<std::string>{"POST", "PUT", "PATCH", "DELETE"}.contains(name);
      const bool isOfTheLab = paths[path][method]["x-lab"].asBool();
      if (isWrite && !isOfTheLab) operations.insert(name + ' ' + path);
    }
  return operations;
}

}  // namespace

TEST_P(WrittenRoutes, AreAnsweredAfterTheirCommit) {
  expectHonest();
}

TEST_P(WrittenRoutesOneByOne, AreAnsweredAfterTheirCommit) {
  expectHonest();
}

INSTANTIATE_TEST_SUITE_P(Sharing, WrittenRoutesOneByOne, testing::ValuesIn(sharingRoutes()),
                         [](const auto& route) { return route.param.name; });

INSTANTIATE_TEST_SUITE_P(All, WrittenRoutes, testing::ValuesIn(allRoutes()),
                         [](const auto& route) { return route.param.name; });

TEST_F(WrittenRoutes, AreAllTried) {
  auto tried = kStoringNothing;
  for (const auto& route : allRoutes())
    EXPECT_TRUE(tried.insert(route.route()).second) << route.route();
  EXPECT_EQ(tried, documented(*service_));
}

TEST_F(WrittenRoutes, TheOthersStoreNothing) {
  const std::map<std::string, std::string> bodies{
      {"POST /councils/login", R"({"username":"council1","password":"council-demo-1"})"},
      {"POST /users/login", R"({"userId":"user1","userPw":"user-demo-1"})"}};
  // The service itself writes one of the tables, every few seconds.
  for (const auto& row : admin_.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                                      " AND tablename <> 'instances'"))
    trap_->arm("INSERT OR UPDATE OR DELETE ON " + *row[0]);
  for (const auto& route : kStoringNothing) {
    const auto answer = untilServed("POST", route.substr(5), bodies.at(route), {});
    EXPECT_EQ(answer.status, 201) << route << answer.body;
  }
  EXPECT_EQ(trap_->caught(), 0);
  trap_->disarm();
}

}  // namespace festa::test
