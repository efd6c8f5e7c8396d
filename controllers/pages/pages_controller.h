// The pages for people, and what they load.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/pages/static_file.h"
#include "controllers/seats/performance_json.h"

#include <map>
#include <string>

namespace festa {

// What the pages may offer.
struct PageModes {
  bool demo = false;  // accounts whose passwords are known
  bool lab = false;   // requests may choose their protection
};

struct AssetName {
  std::string version;
  std::string file;
};

// The files of controllers/pages/assets/. A page's HTML is served at its own path and made of
// page.html: {{page}} stands for its name, {{preloads}} for links to the modules that it imports,
// {{assets}} for the folder of all other files and {{modes}} for the modes. The folder's name is a
// hash of all files, so that they can be kept for ever and may refer to each other by relative
// names.
class PagesController {
 public:
  // `performances` outlives it.
  PagesController(PageModes modes, PerformanceJsonCache& performances);

  void publish(RoutePublisher& routes) const;

  // For people who ask for a path that does not exist.
  const StaticFile& missing() const { return missing_; }

 private:
  drogon::Task<drogon::HttpResponsePtr> page(const Call<NoInput>& call) const;
  // The hall of a performance; 404 if there is none. When the database does not answer within its
  // time, the page: it tells people itself, and goes on when the database is back.
  drogon::Task<drogon::HttpResponsePtr> seats(const Call<std::string>& call) const;
  drogon::Task<bool> isUnknown(std::string performanceId) const;
  // Under another version than ours: our file all the same, not to be kept. While instances are
  // upgraded one by one, a page and its files may come from different ones.
  drogon::Task<drogon::HttpResponsePtr> asset(const Call<AssetName>& call) const;

  PerformanceJsonCache& performances_;
  const std::string version_;
  const std::map<std::string, StaticFile> assets_;
  const std::map<std::string, StaticFile> pages_;  // by their paths
  const StaticFile seats_;
  const StaticFile missing_;
};

}  // namespace festa
