// What the suites of performances and of their seats share.
#pragma once

#include "tests/http/api_test.h"
#include "tests/support/http/rush.h"

#include <map>
#include <string>
#include <vector>

namespace festa::test {

inline const std::string kOkMeta = R"("meta":{"result":"ok","errorCode":null,"errorMessage":null})";

// A request body; `field` replaced by `value`, both as they are written in JSON.
inline std::string newPerformance(const std::string& field = "", const std::string& value = "") {
  std::map<std::string, std::string> fields{
      {"placeId", "1"},
      {"category", R"("CONCERT")"},
      {"startAt", R"("2030-05-20 18:00:00")"},
      {"endAt", R"("2030-05-20T20:30:00.5")"},
      {"startReservationAt", R"("2030-05-01 00:00:00")"},
      {"endReservationAt", R"("2030-05-20 17:00:00")"},
      {"title", R"("봄밤")"},
      {"content", R"("\"봄밤\" 콘서트")"},
      {"acting", R"("코루틴 밴드")"},
      {"filmRating", R"("TWELVE")"},
      {"price", "50000"},
      {"seats", R"([{"location":"A","seatCount":3},{"location":"B","seatCount":2}])"}};
  if (!field.empty()) fields[field] = value;
  std::string body;
  for (const auto& [name, text] : fields)
    body += (body.empty() ? "{\"" : ",\"") + name + "\":" + text;
  return body + '}';
}

class PerformanceTest : public ApiTest {
 protected:
  Response create(const std::string& body) { return asAdmin("POST", "/performance", body); }
  std::int64_t created(const std::string& field = "", const std::string& value = "") {
    const auto body = newPerformance(field, value);
    const auto response = untilServed([&] { return create(body); });
    EXPECT_EQ(response.status, 200) << response.body;
    return response.json()["content"]["id"].asInt64();
  }
  static std::string seatsPath(std::int64_t id) {
    return "/performances/" + std::to_string(id) + "/seats";
  }
  static std::string performances() { return inDatabase("SELECT count(*) FROM performances"); }
  static std::vector<std::int64_t> idsIn(const Response& response) {
    std::vector<std::int64_t> ids;
    const auto json = response.json();
    for (const auto& item : json["items"]) ids.push_back(item["id"].asInt64());
    return ids;
  }
};

}  // namespace festa::test
