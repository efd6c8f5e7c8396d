// Lists as they are sent, and those that are asked for again and again: seats while a sale is on,
// announcements.
#pragma once

#include "controllers/cache/single_flight_cache.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace festa {

struct RenderedList {
  std::string etag;  // stands for body and next
  std::string body;
  std::string next;  // path and query of the page that follows; empty: this is the last one
};
using RenderedListPtr = std::shared_ptr<const RenderedList>;

RenderedListPtr renderedList(std::string body, std::string next = {});

// 200 with the list, or 304 when If-None-Match names its tag. Both with ETag, Cache-Control, and a
// Link to the next page, under the path prefix that the client used.
drogon::HttpResponsePtr listResponse(const drogon::HttpRequestPtr& request,
                                     const RenderedList& list);

enum class ListKind {
  kAnnouncements,
  kPerformances,  // all of them; the owner's id is 0
  kPerformance,   // one
  kSeats,
  kSeatPicture,
  kLineups,
  kSchedule,  // the dates of a festival; with an event date's id, the events of that date
  kQuestions,
  kLostItems,
};

// What a list belongs to: a festival or a performance.
struct ListOwner {
  ListKind kind;
  std::int64_t id;

  bool operator==(const ListOwner&) const = default;
  bool operator<(const ListOwner& other) const {
    return std::tie(kind, id) < std::tie(other.kind, other.id);
  }
};

struct ListKey {
  ListOwner owner;
  std::string part;  // a page or a section; empty: the first or all

  bool operator==(const ListKey&) const = default;
  bool operator<(const ListKey& other) const {
    return std::tie(owner, part) < std::tie(other.owner, other.part);
  }
};

struct ListBytes {
  std::size_t operator()(const ListKey& key, const RenderedListPtr& list) const;
};

// Lists of the last tenth of a second, counted from the beginning of their rendering; 64 MiB of
// them, the newest. A call after invalidate() never gets what was rendered, or began to be
// rendered, before it. See SingleFlightCache for threads and errors.
class RenderedListCache : private SingleFlightCache<ListKey, RenderedListPtr, ListBytes> {
 public:
  using Key = ListKey;
  using SingleFlightCache::Time;

  // Counted for each list that is kept, in addition to its texts.
  static constexpr std::size_t kListOverhead = 512;
  static constexpr std::size_t kMaxBytes = 64UL * 1024 * 1024;

  explicit RenderedListCache(std::size_t maxBytes = kMaxBytes, const TimeSource& time = kSteadyTime)
      : SingleFlightCache({.maxAge = std::chrono::milliseconds(100), .room = maxBytes}, time) {}

  using SingleFlightCache::get;
  using SingleFlightCache::size;
  std::size_t bytes() const { return used(); }

  // Call it when a change of the owner's lists is committed and before its answer is sent.
  void invalidate(const ListOwner& owner) {
    SingleFlightCache::invalidate({owner, ""},
                                  [&](const ListKey& key) { return key.owner == owner; });
  }
};

}  // namespace festa
