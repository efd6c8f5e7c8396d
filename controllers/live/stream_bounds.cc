#include "controllers/live/stream_bounds.h"

#include "services/error.h"

#include <algorithm>

namespace festa {

std::unique_ptr<StreamBounds::Stream> StreamBounds::open(const std::string& address) {
  return std::make_unique<Stream>(shared_from_this(), address);
}

std::string StreamBounds::addressOf(const drogon::HttpRequest& request) const {
  const auto client = clientAddress(request.peerAddr().toIp(), request.getHeader("x-forwarded-for"),
                                    limits_.proxies);
  const bool isProxy = std::ranges::any_of(
      limits_.proxies, [&](const AddressRange& range) { return range.contains(client); });
  return isProxy ? "" : limitedName(client);
}

std::size_t StreamBounds::unsent() const {
  const std::lock_guard guard(mutex_);
  return unsent_;
}

std::uint64_t StreamBounds::closed() const {
  const std::lock_guard guard(mutex_);
  return closed_;
}

void StreamBounds::count(Stream& stream, std::size_t unsent) {
  unsent_ += unsent - stream.unsent_;
  if (stream.address_ != nullptr) stream.address_->second.unsent += unsent - stream.unsent_;
  stream.unsent_ = unsent;
}

void StreamBounds::recount(Stream& stream, Time now) {
  const auto& connection = stream.connection_;
  count(stream, connection ? stream.bytes_.unsent(connection->sent()) : 0);
  if (stream.unsent_ == 0) stream.untakenSince_ = now;
}

bool StreamBounds::isFull(const Stream& stream, std::size_t parts) const {
  const auto* const address = stream.address_;
  return unsent_ > limits_.unsentInAll / parts ||
         (address != nullptr && address->second.unsent > limits_.unsentPerAddress / parts);
}

StreamBounds::Closing StreamBounds::closeUntaken(std::size_t parts, Time now) {
  lastLook_ = now;
  std::vector<Stream*> untaken;
  for (auto* const stream : streams_) {
    recount(*stream, now);
    if (now - stream->untakenSince_ > kPatience) untaken.push_back(stream);
  }
  std::ranges::sort(untaken, std::ranges::greater(), [](const Stream* s) { return s->unsent_; });
  Closing closing;
  for (auto* const stream : untaken) {
    if (!isFull(*stream, parts)) continue;
    closing.push_back(std::move(stream->connection_));
    recount(*stream, now);
    ++closed_;
  }
  return closing;
}

StreamBounds::Stream::Stream(std::shared_ptr<StreamBounds> bounds, const std::string& address)
    : bounds_(std::move(bounds)) {
  const std::lock_guard guard(bounds_->mutex_);
  if (!address.empty()) {
    const auto limit = bounds_->limits_.streamsPerAddress;
    auto& own = *bounds_->addresses_.try_emplace(address).first;
    if (limit > 0 && own.second.streams >= limit)
      throw ServiceError(ErrorCode::kRateLimited, "too many event streams of one address");
    ++own.second.streams;
    address_ = &own;
  }
  bounds_->streams_.insert(this);
}

StreamBounds::Stream::~Stream() {
  const std::lock_guard guard(bounds_->mutex_);
  bounds_->count(*this, 0);
  bounds_->streams_.erase(this);
  if (address_ != nullptr && --address_->second.streams == 0)
    bounds_->addresses_.erase(bounds_->addresses_.find(address_->first));
}

void StreamBounds::Stream::begin(std::unique_ptr<StreamConnection> connection) {
  const std::lock_guard guard(bounds_->mutex_);
  bytes_ = UnsentBytes(connection->sent());
  connection_ = std::move(connection);
}

void StreamBounds::Stream::handOver(std::size_t bytes, Time now) {
  const std::lock_guard guard(bounds_->mutex_);
  if (!connection_) return;
  bounds_->recount(*this, now);
  bytes_.handOver(bytes, connection_->sent());
  bounds_->count(*this, unsent_ + bytes);
}

bool StreamBounds::Stream::isBeyond(std::size_t parts, Time now) {
  Closing closing;  // outside the lock: a connection that ends calls others
  bool isFull = false;
  {
    const std::lock_guard guard(bounds_->mutex_);
    bounds_->recount(*this, now);
    if (unsent_ > bounds_->limits_.unsentPerStream) return true;
    if (bounds_->isFull(*this, parts) && now - bounds_->lastLook_ >= kLookEvery)
      closing = bounds_->closeUntaken(parts, now);
    isFull = bounds_->isFull(*this, parts);
  }
  for (const auto& connection : closing) connection->close();
  return isFull;
}

bool StreamBounds::Stream::isBehind(Time now) {
  return isBeyond(1, now);
}

bool StreamBounds::Stream::takesPages(Time now) {
  return !isBeyond(2, now);
}

bool StreamBounds::Stream::isOverfull() const {
  const std::lock_guard guard(bounds_->mutex_);
  return connection_ && bytes_.unsent(connection_->sent()) > bounds_->limits_.unsentPerStream;
}

double StreamBounds::Stream::shareOfAddress() const {
  const std::lock_guard guard(bounds_->mutex_);
  return address_ == nullptr ? 1 : 1.0 / static_cast<double>(address_->second.streams);
}

}  // namespace festa
