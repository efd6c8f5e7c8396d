// Routes that are never asked.
#pragma once

#include "controllers/http/route_table.h"

#include <stdexcept>

namespace festa::test {

class SilentEndpoint : public Endpoint {
 public:
  using Endpoint::Endpoint;
  drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr) const override {
    throw std::logic_error("a SilentEndpoint must not be called");
    co_return nullptr;
  }
};

inline std::unique_ptr<Endpoint> silentEndpoint(drogon::HttpMethod method, std::string path,
                                                bool isEnveloped = false) {
  RouteHead head{.method = method, .path = std::move(path), .access = kAnyone};
  head.isEnveloped = isEnveloped;
  return std::make_unique<SilentEndpoint>(std::move(head));
}

}  // namespace festa::test
