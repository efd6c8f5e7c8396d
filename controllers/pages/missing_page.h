// The answer to people who ask for a page that does not exist.
#pragma once

#include "controllers/pages/static_file.h"

namespace festa {

// Immutable, thread-safe.
class MissingPage {
 public:
  explicit MissingPage(const std::string& html);

  // Whether it is the answer to a request for an unknown path: people get it, clients of the API a
  // problem.
  static bool isFor(const drogon::HttpRequest& request);

  // 404, under the same policy as the other pages.
  drogon::HttpResponsePtr answer(const drogon::HttpRequest& request) const;

 private:
  const StaticFile file_;
};

}  // namespace festa
