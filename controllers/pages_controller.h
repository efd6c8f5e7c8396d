// The pages for people, and what they load.
#pragma once

#include "controllers/embedded_page.h"

#include <map>
#include <string>
#include <vector>

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

// The files of app/pages/. A page's HTML is served at its own path and made of page.html: {{page}}
// stands for its name, {{preloads}} for links to the modules that it imports, {{assets}} for the
// folder of all other files and {{modes}} for the modes. The folder's name is a hash of all files,
// so that they can be kept for ever and may refer to each other by relative names. Outlives the
// routes it publishes.
class PagesController {
 public:
  explicit PagesController(PageModes modes);

  void publish(Routes& routes) const;

 private:
  // Under another version than ours: our file all the same, not to be kept. While instances are
  // upgraded one by one, a page and its files may come from different ones.
  drogon::Task<drogon::HttpResponsePtr> asset(const Call<AssetName>& call) const;

  const std::string version_;
  const std::map<std::string, StaticFile> assets_;
  const std::vector<EmbeddedPage> pages_;
};

}  // namespace festa
