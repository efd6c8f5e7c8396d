#include "controllers/pages/static_file.h"

#include "controllers/http/representation.h"
#include "controllers/json/responses.h"

#include <drogon/utils/Utilities.h>

#include <stdexcept>

namespace festa {

namespace {

// A page loads from and talks to this service only. Other sites cannot show it in a frame.
constexpr const char* kContentSecurityPolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const char* nameOf(ContentEncoding encoding) {
  return encoding == ContentEncoding::kBrotli ? "br" : "gzip";
}

void addPolicy(drogon::HttpResponse& response) {
  response.addHeader("Content-Security-Policy", kContentSecurityPolicy);
  response.addHeader("Referrer-Policy", "no-referrer");
}

}  // namespace

StaticFile::StaticFile(const std::string& content, std::string contentType)
    : contentType_(std::move(contentType)), variants_([&content] {
        std::map<ContentEncoding, Variant> variants;
        const auto add = [&variants](ContentEncoding encoding, std::string encoded) {
          const auto etag = etagOf(encoded);
          variants[encoding] = {std::move(encoded), etag};
        };
        add(ContentEncoding::kIdentity, content);
        add(ContentEncoding::kGzip, drogon::utils::gzipCompress(content.data(), content.size()));
        add(ContentEncoding::kBrotli,
            drogon::utils::brotliCompress(content.data(), content.size()));
        return variants;
      }()) {}

drogon::HttpResponsePtr StaticFile::whole(ContentEncoding encoding,
                                          drogon::HttpStatusCode status) const {
  auto response = emptyResponse(status);
  response->setContentTypeString(contentType_);
  response->setBody(variants_.at(encoding).content);
  if (encoding != ContentEncoding::kIdentity)
    response->addHeader("Content-Encoding", nameOf(encoding));
  return response;
}

drogon::HttpResponsePtr StaticFile::answer(const drogon::HttpRequest& request,
                                           Caching caching) const {
  const auto encoding = bestEncoding(request.getHeader("accept-encoding"));
  const auto& etag = variants_.at(encoding).etag;
  const bool isKnown = namesEtag(request.getHeader("if-none-match"), etag);
  auto response =
      isKnown ? emptyResponse(drogon::k304NotModified) : whole(encoding, drogon::k200OK);
  response->addHeader("ETag", etag);
  response->addHeader("Vary", "Accept-Encoding");
  response->addHeader("Cache-Control", caching == Caching::kForever
                                           ? "public, max-age=31536000, immutable"
                                           : "no-cache");
  addPolicy(*response);
  return response;
}

drogon::HttpResponsePtr StaticFile::missing(const drogon::HttpRequest& request) const {
  auto response = whole(bestEncoding(request.getHeader("accept-encoding")), drogon::k404NotFound);
  response->addHeader("Vary", "Accept, Accept-Encoding");
  response->addHeader("Cache-Control", "no-store");
  addPolicy(*response);
  return response;
}

std::string contentTypeOf(const std::string& fileName) {
  static const std::map<std::string, std::string> kTypes{
      {"html", "text/html"}, {"mjs", "text/javascript"}, {"js", "text/javascript"},
      {"css", "text/css"},   {"svg", "image/svg+xml"},   {"json", "application/json"},
  };
  const auto found = kTypes.find(fileName.substr(fileName.rfind('.') + 1));
  if (found == kTypes.end()) throw std::logic_error(fileName + " has no content type");
  return found->second + "; charset=utf-8";
}

}  // namespace festa
