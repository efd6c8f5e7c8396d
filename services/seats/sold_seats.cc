#include "services/seats/sold_seats.h"

#include <algorithm>

namespace festa {

SoldSeats::SoldSeats(std::size_t capacity, const TimeSource& time)
    : capacityPerShard_(std::max<std::size_t>(1, capacity / std::tuple_size_v<decltype(shards_)>)),
      time_(time) {}

std::size_t SoldSeats::Hash::operator()(const SeatRef& seat) const {
  auto hash = std::hash<std::string>{}(seat.location);
  for (const auto part :
       {static_cast<std::size_t>(seat.performanceId), static_cast<std::size_t>(seat.number)})
    hash ^= part + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash;
}

SoldSeats::Shard& SoldSeats::shardOf(const SeatRef& seat) {
  return shards_[Hash{}(seat) % shards_.size()];
}

const SoldSeats::Shard& SoldSeats::shardOf(const SeatRef& seat) const {
  return shards_[Hash{}(seat) % shards_.size()];
}

bool SoldSeats::isSold(const SeatRef& seat) const {
  const auto& shard = shardOf(seat);
  const std::lock_guard guard(shard.mutex);
  const auto found = shard.ends.find(seat);
  return found != shard.ends.end() && time_.now() < found->second;
}

void SoldSeats::makeRoom(Shard& shard) const {
  const auto now = time_.now();
  while (!shard.order.empty()) {
    const auto oldest = shard.ends.find(shard.order.front());
    const bool isOver = oldest == shard.ends.end() || oldest->second <= now;
    if (!isOver && shard.order.size() < capacityPerShard_) return;
    if (oldest != shard.ends.end()) shard.ends.erase(oldest);
    shard.order.pop_front();
  }
}

void SoldSeats::add(const SeatRef& seat, Clock::time_point provedAfter) {
  const auto end = provedAfter + kLifetime;
  auto& shard = shardOf(seat);
  const std::lock_guard guard(shard.mutex);
  makeRoom(shard);
  const auto [entry, isNew] = shard.ends.try_emplace(seat, end);
  if (isNew) shard.order.push_back(seat);
  entry->second = std::max(entry->second, end);
}

void SoldSeats::forget(const SeatRef& seat) {
  auto& shard = shardOf(seat);
  const std::lock_guard guard(shard.mutex);
  shard.ends.erase(seat);
}

std::size_t SoldSeats::size() const {
  std::size_t all = 0;
  for (const auto& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    all += shard.ends.size();
  }
  return all;
}

}  // namespace festa
