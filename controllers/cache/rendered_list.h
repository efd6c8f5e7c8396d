// A list as it is sent: its text, its tag, and where it goes on.
#pragma once

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <memory>
#include <string>

namespace festa {

struct RenderedList {
  std::string etag;  // of body and next
  std::string body;
  std::string next;  // path and query of the page that follows; empty: this is the last one
};
using RenderedListPtr = std::shared_ptr<const RenderedList>;

RenderedListPtr renderedList(std::string body, std::string next = {});

// 200 with the list, or 304 when If-None-Match names its tag. Both with ETag, Cache-Control, and a
// Link to the next page, under the path prefix that the client used.
drogon::HttpResponsePtr listResponse(const drogon::HttpRequestPtr& request,
                                     const RenderedList& list);

}  // namespace festa
