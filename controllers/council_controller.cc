#include "controllers/council_controller.h"

#include "controllers/account_fields.h"
#include "controllers/json_body.h"
#include "controllers/json_writer.h"
#include "controllers/responses.h"

namespace festa {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

namespace {

struct PasswordChange {
  std::string current;
  std::string replacement;
};

std::any parseLogin(const HttpRequestPtr&, const RequestContext& context) {
  FieldReader fields(context.body);
  const auto input = readCredentials(fields, "username", "password");
  fields.done();
  return input;
}

std::any parseNew(const HttpRequestPtr&, const RequestContext& context) {
  FieldReader fields(context.body);
  const NewCouncil input{fields.id("festivalId"), readNewLogin(fields, "username"),
                         fields.password("password", kMinPassword, kMaxPassword)};
  fields.done();
  return input;
}

std::any parsePasswordChange(const HttpRequestPtr&, const RequestContext& context) {
  FieldReader fields(context.body);
  const PasswordChange input{fields.password("currentPassword", 1, kMaxPassword),
                             fields.password("newPassword", kMinPassword, kMaxPassword)};
  fields.done();
  return input;
}

}  // namespace

void CouncilController::publish(Endpoints& endpoints) const {
  endpoints.add({.method = drogon::Post,
                 .path = "/councils/login",
                 .access = kAnyone,
                 .takesBody = true,
                 .checksPassword = true,
                 .answersToken = true,
                 .parse = parseLogin,
                 .handle = [this](HttpRequestPtr request) { return login(std::move(request)); }});
  endpoints.add({.method = drogon::Post,
                 .path = "/councils",
                 .access = kAdmins,
                 .takesBody = true,
                 .parse = parseNew,
                 .handle = [this](HttpRequestPtr request) { return create(std::move(request)); }});
  endpoints.add(
      {.method = drogon::Patch,
       .path = "/councils/password",
       .access = kCouncils,
       .takesBody = true,
       .checksPassword = true,
       .endsTokens = true,
       .parse = parsePasswordChange,
       .handle = [this](HttpRequestPtr request) { return changePassword(std::move(request)); }});
}

drogon::Task<HttpResponsePtr> CouncilController::login(HttpRequestPtr request) const {
  const auto login = co_await service_->login(inputOf<Credentials>(request));
  JsonWriter json;
  json.beginObject()
      .member("festivalId", login.festivalId)
      .member("accessToken", login.accessToken);
  co_return jsonResponse(drogon::k201Created, json.endObject().take());
}

drogon::Task<HttpResponsePtr> CouncilController::create(HttpRequestPtr request) const {
  const NewCouncil input = inputOf<NewCouncil>(request);
  const auto answer = [username = input.username](std::int64_t id) {
    JsonWriter json;
    json.beginObject().member("councilId", id).member("username", username).key("roleTypes");
    json.beginArray().value("ROLE_COUNCIL").endArray();
    return Answer{drogon::k201Created, json.endObject().take()};
  };
  const auto receipt = receiptOf<std::int64_t>(request, answer);
  const auto id = co_await service_->create(input, receipt);
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> CouncilController::changePassword(HttpRequestPtr request) const {
  const auto& input = inputOf<PasswordChange>(request);
  const Caller caller = *contextOf(request).caller;
  const auto answer = [caller](std::int64_t) {
    JsonWriter json;
    json.beginObject().member("councilId", caller.uid).member("username", caller.login);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptOf<std::int64_t>(request, answer);
  co_await service_->changePassword(caller.uid, input.current, input.replacement, receipt);
  co_return toResponse(answer(0));
}

}  // namespace festa
