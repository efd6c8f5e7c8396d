// Announcements over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "controllers/guard_factory.h"
#include "controllers/rendered_list_cache.h"
#include "services/announcement_service.h"

namespace festa {

// Creates, pin changes and deletes of one festival exclude each other: all of them can change the
// number of pins.
extern const lock::Lockable kAnnouncementPins;

class AnnouncementController {
 public:
  // `lists` must outlive the controller. Lists in it are forgotten with every write made here.
  AnnouncementController(std::shared_ptr<AnnouncementService> service, GuardFactory guardOf,
                         RenderedListCache& lists)
      : service_(std::move(service)), guardOf_(std::move(guardOf)), lists_(lists) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> list(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> edit(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> setPinned(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> remove(drogon::HttpRequestPtr request) const;

  drogon::Task<RenderedListPtr> renderPage(std::int64_t festivalId,
                                           std::optional<std::int64_t> after) const;
  // Those who ask from now on see what was committed.
  void forgetLists(const drogon::HttpRequestPtr& request) const;

  const std::shared_ptr<AnnouncementService> service_;
  const GuardFactory guardOf_;
  RenderedListCache& lists_;
};

}  // namespace festa
