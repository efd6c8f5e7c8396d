// A file that is part of the program, as it is sent.
#pragma once

#include "controllers/http/representation.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <map>
#include <string>

namespace festa {

enum class Caching {
  kAskAgain,  // a client has to ask whether it has the newest version
  kForever,   // the path changes with the content
};

// Compressed once, by the constructor. Immutable, thread-safe.
class StaticFile {
 public:
  // `contentType` as it is sent.
  StaticFile(const std::string& content, std::string contentType);

  // 200 in the best encoding that the client takes, or 304 when If-None-Match names its tag. With a
  // policy that lets the page load from and talk to this service only, without inline scripts and
  // styles.
  drogon::HttpResponsePtr answer(const drogon::HttpRequest& request, Caching caching) const;
  // The same as a 404, for what is not there: neither a tag nor to be kept.
  drogon::HttpResponsePtr missing(const drogon::HttpRequest& request) const;

 private:
  struct Variant {
    std::string content;
    std::string etag;
  };

  drogon::HttpResponsePtr whole(ContentEncoding encoding, drogon::HttpStatusCode status) const;

  const std::string contentType_;
  const std::map<ContentEncoding, Variant> variants_;
};

// By the ending of a file's name: html, mjs, js, css, svg, json. Throws std::logic_error for
// others.
std::string contentTypeOf(const std::string& fileName);

}  // namespace festa
