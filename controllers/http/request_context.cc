#include "controllers/http/request_context.h"

#include <trantor/net/TcpConnection.h>

#include <memory>

namespace festa {

namespace {

const std::string kAttribute = "festa.context";

using drogon::HttpRequestPtr;
using ContextPtr = std::shared_ptr<RequestContext>;

}  // namespace

// Drogon copies attributes, and the address must stay.
RequestContext& attachContext(const HttpRequestPtr& request) {
  auto context = std::make_shared<RequestContext>();
  auto& made = *context;
  request->attributes()->insert(kAttribute, std::move(context));
  return made;
}

RequestContext* findContext(const HttpRequestPtr& request) {
  const auto& attributes = request->attributes();
  return attributes->find(kAttribute) ? attributes->get<ContextPtr>(kAttribute).get() : nullptr;
}

RequestContext& contextOf(const HttpRequestPtr& request) {
  return *request->attributes()->get<ContextPtr>(kAttribute);
}

bool hasGone(const HttpRequestPtr& request) {
  const auto connection = request->getConnectionPtr().lock();
  return connection && !connection->connected();
}

}  // namespace festa
