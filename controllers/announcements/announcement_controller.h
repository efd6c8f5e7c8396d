// Announcements over HTTP.
#pragma once

#include "controllers/cache/rendered_list_cache.h"
#include "controllers/http/route_publisher.h"
#include "services/announcements/announcement_service.h"

namespace festa {

// Creates, pin changes and deletes of one festival exclude each other: all of them can change the
// number of pins.
extern const lock::Lockable kAnnouncementPins;

struct AnnouncementPageQuery {
  std::int64_t festivalId;
  std::optional<std::int64_t> after;  // none: the first page
};

struct AnnouncementTextChange {
  std::int64_t id;
  AnnouncementText text;
};

struct AnnouncementPinChange {
  std::int64_t id;
  PinChange change;
};

class AnnouncementController {
 public:
  // Lists are forgotten with every write made here.
  AnnouncementController(const AnnouncementService& service, RenderedListCache& lists)
      : service_(service), lists_(lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(const Call<NewAnnouncement>& call,
                                               WriteGuard& guard) const;
  drogon::Task<drogon::HttpResponsePtr> list(const Call<AnnouncementPageQuery>& call) const;
  drogon::Task<drogon::HttpResponsePtr> edit(const Call<AnnouncementTextChange>& call) const;
  drogon::Task<drogon::HttpResponsePtr> setPinned(const Call<AnnouncementPinChange>& call,
                                                  WriteGuard& guard) const;
  drogon::Task<drogon::HttpResponsePtr> remove(const Call<std::int64_t>& call,
                                               WriteGuard& guard) const;

  drogon::Task<RenderedListPtr> renderPage(std::int64_t festivalId,
                                           std::optional<std::int64_t> after) const;
  // Requests from now on see what was committed.
  template <class Input>
  void forgetLists(const Call<Input>& call) const {
    lists_.invalidate({ListKind::kAnnouncements, *call.caller().festivalId});
  }

  const AnnouncementService& service_;
  RenderedListCache& lists_;
};

}  // namespace festa
