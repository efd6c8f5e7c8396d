// A path that answers with a file which is part of the program.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/pages/static_file.h"

#include <string>

namespace festa {

// Outlives the route it publishes.
class EmbeddedPage {
 public:
  // `path`: a route, perhaps with parameters, which the page itself reads.
  EmbeddedPage(std::string path, const std::string& content, std::string contentType)
      : path_(std::move(path)), file_(content, std::move(contentType)) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> show(const Call<NoInput>& call) const;

  const std::string path_;
  const StaticFile file_;
};

}  // namespace festa
