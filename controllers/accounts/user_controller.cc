#include "controllers/accounts/user_controller.h"

#include "controllers/accounts/account_fields.h"
#include "controllers/json/json_writer.h"
#include "controllers/json/responses.h"

#include <algorithm>

namespace festa {

using drogon::HttpResponsePtr;

namespace {

constexpr std::size_t kMaxName = 50;
constexpr std::int64_t kMaxAge = 150;
constexpr std::size_t kMaxEmail = 254;
constexpr std::size_t kMaxPhone = 30;

// Only the form is checked, not whether the mailbox exists. A line break is refused: it would add
// headers to a mail sent to this address.
bool looksLikeEmail(const std::string& text) {
  return std::count(text.begin(), text.end(), '@') == 1 && text.front() != '@' &&
         text.back() != '@' && !hasInvisible(text);
}

std::string readEmail(FieldReader& fields) {
  auto email = fields.text("email", kMaxEmail);
  if (fields.isRight("email") && !looksLikeEmail(email))
    fields.reject("email", "이메일 주소 형식이 아닙니다.", "must be an e-mail address");
  return email;
}

NewUser parseNewUser(const Asked& asked) {
  FieldReader fields(asked.body());
  NewUser input;
  input.credentials = {readNewLogin(fields, "userId"),
                       fields.password("userPw", kMinPassword, kMaxPassword)};
  input.name = fields.text("name", kMaxName);
  input.age = static_cast<std::int32_t>(fields.number("age", 0, kMaxAge));
  input.email = readEmail(fields);
  input.phone = fields.text("phone", kMaxPhone);
  fields.done();
  return input;
}

Credentials parseUserLogin(const Asked& asked) {
  FieldReader fields(asked.body());
  auto input = readCredentials(fields, "userId", "userPw");
  fields.done();
  return input;
}

}  // namespace

void UserController::publish(RoutePublisher& routes) const {
  using Self = UserController;
  routes.add(*this,
             {.method = drogon::Post,
              .path = "/users",
              .access = kAnyone,
              .takesBody = true,
              .checksPassword = true,
              .isEnveloped = true},
             parseNewUser, &Self::create);
  routes.add(*this,
             {.method = drogon::Post,
              .path = "/users/login",
              .access = kAnyone,
              .takesBody = true,
              .checksPassword = true,
              .answersToken = true,
              .isEnveloped = true},
             parseUserLogin, &Self::login);
}

drogon::Task<HttpResponsePtr> UserController::create(const Call<NewUser>& call) const {
  const auto& input = call.input;
  co_await service_.create(input);
  JsonWriter json;
  json.beginObject()
      .member("userId", input.credentials.login)
      .member("name", input.name)
      .member("age", std::int64_t{input.age})
      .member("email", input.email)
      .member("phone", input.phone)
      .member("role", kUserRole)
      .endObject();
  co_return jsonResponse(drogon::k200OK, contentEnvelope(json.take()));
}

drogon::Task<HttpResponsePtr> UserController::login(const Call<Credentials>& call) const {
  const auto login = co_await service_.login(call.input);
  JsonWriter json;
  json.beginObject().member("id", login.id).member("accessToken", login.accessToken).endObject();
  co_return jsonResponse(drogon::k201Created, json.take());
}

}  // namespace festa
