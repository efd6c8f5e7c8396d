#include "controllers/cache/rendered_list_cache.h"

#include "controllers/http/representation.h"
#include "controllers/http/request_context.h"
#include "controllers/json/responses.h"

namespace festa {

RenderedListPtr renderedList(std::string body, std::string next) {
  auto etag = next.empty() ? etagOf(body) : etagOf(body + next);
  return std::make_shared<const RenderedList>(
      RenderedList{std::move(etag), std::move(body), std::move(next)});
}

drogon::HttpResponsePtr listResponse(const drogon::HttpRequestPtr& request,
                                     const RenderedList& list) {
  const bool isKnown = namesEtag(request->getHeader("if-none-match"), list.etag);
  auto response =
      isKnown ? emptyResponse(drogon::k304NotModified) : jsonResponse(drogon::k200OK, list.body);
  response->addHeader("ETag", list.etag);
  response->addHeader("Cache-Control", "no-cache");
  if (!list.next.empty())
    response->addHeader("Link",
                        '<' + contextOf(request).pathPrefix + list.next + R"(>; rel="next")");
  return response;
}

std::size_t ListBytes::operator()(const ListKey& key, const RenderedListPtr& list) const {
  return RenderedListCache::kListOverhead + key.part.size() + list->etag.size() +
         list->body.size() + list->next.size();
}

}  // namespace festa
