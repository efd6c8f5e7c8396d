#include "controllers/accounts/council_controller.h"

#include "controllers/accounts/account_fields.h"
#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/json/responses.h"

namespace festa {

using drogon::HttpResponsePtr;

namespace {

Credentials parseCouncilLogin(const Asked& asked) {
  FieldReader fields(asked.body());
  auto input = readCredentials(fields, "username", "password");
  fields.done();
  return input;
}

NewCouncil parseNewCouncil(const Asked& asked) {
  FieldReader fields(asked.body());
  NewCouncil input{fields.id("festivalId"), readNewLogin(fields, "username"),
                   fields.password("password", kMinPassword, kMaxPassword)};
  fields.done();
  return input;
}

PasswordChange parsePasswordChange(const Asked& asked) {
  FieldReader fields(asked.body());
  PasswordChange input{fields.password("currentPassword", 1, kMaxPassword),
                       fields.password("newPassword", kMinPassword, kMaxPassword)};
  fields.done();
  return input;
}

}  // namespace

void CouncilController::publish(RoutePublisher& routes) const {
  using Self = CouncilController;
  routes.add(*this,
             {.method = drogon::Post,
              .path = "/councils/login",
              .access = kAnyone,
              .takesBody = true,
              .checksPassword = true,
              .answersToken = true},
             parseCouncilLogin, &Self::login);
  routes.add(*this,
             {.method = drogon::Post, .path = "/councils", .access = kAdmins, .takesBody = true},
             parseNewCouncil, &Self::create);
  routes.add(*this,
             {.method = drogon::Patch,
              .path = "/councils/password",
              .access = kCouncils,
              .takesBody = true,
              .checksPassword = true,
              .endsTokens = true},
             parsePasswordChange, &Self::changePassword);
}

drogon::Task<HttpResponsePtr> CouncilController::login(const Call<Credentials>& call) const {
  const auto login = co_await service_.login(call.input);
  JsonWriter json;
  json.beginObject()
      .member("festivalId", login.festivalId)
      .member("accessToken", login.accessToken);
  co_return jsonResponse(drogon::k201Created, json.endObject().take());
}

drogon::Task<HttpResponsePtr> CouncilController::create(const Call<NewCouncil>& call) const {
  const auto& input = call.input;
  const auto answer = [username = input.username](std::int64_t id) {
    JsonWriter json;
    json.beginObject().member("councilId", id).member("username", username).key("roleTypes");
    json.beginArray().value("ROLE_COUNCIL").endArray();
    return Answer{drogon::k201Created, json.endObject().take()};
  };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  const auto id = co_await service_.create(input, receipt.wanted());
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> CouncilController::changePassword(
    const Call<PasswordChange>& call) const {
  const auto& input = call.input;
  const Caller caller = call.caller();
  const auto answer = [caller](std::int64_t) {
    JsonWriter json;
    json.beginObject().member("councilId", caller.uid).member("username", caller.login);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  co_await service_.changePassword(caller.uid, input.current, input.replacement, receipt.wanted());
  co_return toResponse(answer(0));
}

}  // namespace festa
