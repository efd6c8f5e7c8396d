#include "controllers/accounts/account_fields.h"

#include "controllers/json/utf8.h"

namespace festa {

namespace {

// Returns the name as it was sent, or nothing when it was rejected.
std::optional<std::string> readLogin(FieldReader& fields, const char* field) {
  auto name = fields.notBlank(field);
  if (!name) return std::nullopt;
  if (*utf8Length(*name) <= kMaxLoginSpelling && *utf8Length(toNfc(*name)) <= kMaxLogin)
    return name;
  fields.rejectLength(field, kMaxLogin);
  return std::nullopt;
}

}  // namespace

std::string readNewLogin(FieldReader& fields, const char* field) {
  const auto sent = readLogin(fields, field);
  if (!sent) return {};
  auto name = toNfc(*sent);
  if (hasInvisible(name))
    fields.reject(field, "보이지 않는 문자나 제어 문자는 사용할 수 없습니다.",
                  "must not contain control characters or others that cannot be seen");
  else if (hasSpaceAtEnds(name))
    fields.reject(field, "앞뒤에 공백을 둘 수 없습니다.", "must not begin or end with a space");
  return name;
}

Credentials readCredentials(FieldReader& fields, const char* login, const char* password) {
  return {readLogin(fields, login).value_or(""), fields.password(password, 1, kMaxPassword)};
}

}  // namespace festa
