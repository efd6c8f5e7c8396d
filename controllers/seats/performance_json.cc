#include "controllers/seats/performance_json.h"

namespace festa {

void write(JsonWriter& json, const Performance& performance) {
  const auto& place = performance.place;
  const auto& data = performance.data;
  json.beginObject()
      .member("id", performance.id)
      .key("place")
      .beginObject()
      .member("id", place.id)
      .member("name", place.name)
      .member("location", place.location)
      .member("maxSeat", place.maxSeat)
      .endObject()
      .member("category", data.category)
      .member("startAt", data.startAt)
      .member("endAt", data.endAt)
      .member("startReservationAt", data.startReservationAt)
      .member("endReservationAt", data.endReservationAt)
      .member("title", data.title)
      .member("content", data.content)
      .member("acting", data.acting)
      .member("filmRating", data.filmRating)
      .member("price", data.price)
      .member("createdAt", performance.createdAt)
      .member("updatedAt", performance.updatedAt)
      .endObject();
}

drogon::Task<std::string> PerformanceJsonCache::render(std::int64_t id) const {
  const auto performance = co_await service_.find(id);
  JsonWriter json;
  write(json, performance);
  co_return json.take();
}

}  // namespace festa
