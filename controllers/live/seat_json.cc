#include "controllers/live/seat_json.h"

#include "controllers/json/json_writer.h"

#include <drogon/utils/Utilities.h>

namespace festa {

namespace {

std::string eventOf(const char* name, const std::string& json) {
  return std::string("event: ") + name + "\ndata: " + json + "\n\n";
}

void writeSeats(JsonWriter& json, const char* name, const std::vector<NumberedSeat>& seats) {
  json.key(name).beginArray();
  for (const auto& seat : seats)
    json.beginArray().value(seat.location).value(std::int64_t{seat.number}).endArray();
  json.endArray();
}

}  // namespace

std::string SeatEventText::snapshot(const SeatPicture& picture) const {
  JsonWriter json;
  json.beginObject().key("sections").beginArray();
  for (const auto& section : picture)
    json.beginObject()
        .member("location", section.location)
        .member("count", std::int64_t{section.count})
        .member("sold", drogon::utils::base64Encode(section.sold))
        .endObject();
  return eventOf("snapshot", json.endArray().endObject().take());
}

std::string SeatEventText::changes(const SeatChanges& changes) const {
  JsonWriter json;
  json.beginObject();
  writeSeats(json, "sold", changes.sold);
  writeSeats(json, "free", changes.free);
  return eventOf("changes", json.endObject().take());
}

}  // namespace festa
