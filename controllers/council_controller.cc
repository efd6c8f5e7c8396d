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
  const NewCouncil input{fields.id("festivalId"), fields.text("username", kMaxLogin),
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
  const auto& input = inputOf<NewCouncil>(request);
  const auto id = co_await service_->create(input);
  JsonWriter json;
  json.beginObject().member("councilId", id).member("username", input.username).key("roleTypes");
  json.beginArray().value("ROLE_COUNCIL").endArray();
  co_return jsonResponse(drogon::k201Created, json.endObject().take());
}

drogon::Task<HttpResponsePtr> CouncilController::changePassword(HttpRequestPtr request) const {
  const auto& input = inputOf<PasswordChange>(request);
  const Caller caller = *contextOf(request).caller;
  co_await service_->changePassword(caller.uid, input.current, input.replacement);
  JsonWriter json;
  json.beginObject().member("councilId", caller.uid).member("username", caller.login);
  co_return jsonResponse(drogon::k200OK, json.endObject().take());
}

}  // namespace festa
