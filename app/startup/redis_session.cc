#include "app/startup/redis_session.h"

#include <hiredis/hiredis.h>

namespace festa {

namespace {

constexpr timeval kPatience{2, 0};

std::vector<std::string> textsOf(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY)
    return {std::string(reply.str != nullptr ? reply.str : "", reply.len)};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < reply.elements; ++i)
    for (auto& text : textsOf(*reply.element[i])) texts.push_back(std::move(text));
  return texts;
}

}  // namespace

void RedisSession::Free::operator()(redisContext* context) const {
  redisFree(context);
}

std::optional<RedisSession> RedisSession::tryConnect(const std::string& host, std::uint16_t port) {
  Context context(redisConnectWithTimeout(host.c_str(), port, kPatience));
  if (!context || context->err != 0) return std::nullopt;
  redisSetTimeout(context.get(), kPatience);
  return RedisSession(std::move(context));
}

void RedisSession::authenticate(const std::string& user, const std::string& password) {
  if (password.empty()) return;
  if (user.empty())
    call({"AUTH", password});
  else
    call({"AUTH", user, password});
}

std::vector<std::string> RedisSession::call(const std::vector<std::string>& arguments) {
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const auto& argument : arguments) {
    data.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(data.size()),
                                                data.data(), sizes.data())),
      &freeReplyObject);
  if (!reply) throw RedisDoesNotAnswer();
  auto texts = textsOf(*reply);
  if (reply->type != REDIS_REPLY_ERROR) return texts;
  if (texts.front().starts_with("LOADING")) throw RedisDoesNotAnswer();
  throw std::runtime_error("Redis refuses us: " + texts.front());
}

}  // namespace festa
