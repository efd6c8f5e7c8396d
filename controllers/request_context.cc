#include "controllers/request_context.h"

#include "services/error.h"

#include <charconv>
#include <memory>

namespace festa {

namespace {

const std::string kAttribute = "festa.context";

using ContextPtr = std::shared_ptr<RequestContext>;

}  // namespace

// Drogon copies attributes, and the address must stay.
RequestContext& attachContext(const drogon::HttpRequestPtr& request) {
  auto context = std::make_shared<RequestContext>();
  auto& made = *context;
  request->attributes()->insert(kAttribute, std::move(context));
  return made;
}

RequestContext* findContext(const drogon::HttpRequestPtr& request) {
  const auto& attributes = request->attributes();
  return attributes->find(kAttribute) ? attributes->get<ContextPtr>(kAttribute).get() : nullptr;
}

RequestContext& contextOf(const drogon::HttpRequestPtr& request) {
  return *request->attributes()->get<ContextPtr>(kAttribute);
}

std::int64_t parseId(const std::string& text, const std::string& what) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id <= 0 || text.front() == '0')
    throw ServiceError(ErrorCode::kInvalidParameter, what + " is not a positive 64-bit number");
  return id;
}

}  // namespace festa
