#include "services/accounts/token_service.h"

#include <json/json.h>
#include <jwt.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <stdexcept>

namespace festa {

namespace {

using Jwt = std::unique_ptr<jwt_t, decltype(&jwt_free)>;

constexpr std::size_t kMaxTokenBytes = 4096;
constexpr std::size_t kTokensRemembered = 20'000;

const char* realmName(Realm realm) {
  return realm == Realm::kCouncil ? "council" : "user";
}

std::string rolesJson(const std::vector<std::string>& roles) {
  std::string json = "{\"roles\":[";
  for (const auto& role : roles) json += (json.back() == '[' ? "\"" : ",\"") + role + '"';
  return json + "]}";
}

// The header or the payload of a token as an object; null when it cannot be read.
Json::Value objectFrom(char* ownedText) {
  const std::unique_ptr<char, decltype(&free)> text(ownedText, &free);
  Json::Value object;
  try {
    if (text && Json::Reader().parse(text.get(), object) && object.isObject()) return object;
  } catch (const Json::Exception&) {
    // Nested more deeply than the reader goes.
  }
  return {};
}

std::optional<std::string> textClaim(const Json::Value& claims, const char* name) {
  const auto& value = claims[name];
  return value.isString() ? std::optional(value.asString()) : std::nullopt;
}

// Numbers of ours are positive integers.
std::optional<std::int64_t> numberClaim(const Json::Value& claims, const char* name) {
  const auto& value = claims[name];
  const bool isInteger = value.type() == Json::intValue || value.type() == Json::uintValue;
  const bool isOurs = isInteger && value.isInt64() && value.asInt64() > 0;
  return isOurs ? std::optional(value.asInt64()) : std::nullopt;
}

// Tokens of older versions of the service have none, which means 0.
std::optional<std::int64_t> passwordVersionIn(const Json::Value& claims) {
  if (!claims.isMember("passwordVersion") || claims["passwordVersion"] == Json::Value(0)) return 0;
  return numberClaim(claims, "passwordVersion");
}

// A role of one realm means nothing in the other: their ids are counted apart.
bool countsIn(Realm realm, const std::string& role) {
  if (role == "ROLE_USER") return realm == Realm::kUser;
  if (role == "ROLE_COUNCIL" || role == "ROLE_ADMIN") return realm == Realm::kCouncil;
  return true;
}

std::vector<std::string> rolesIn(const Json::Value& claims, Realm realm) {
  std::vector<std::string> roles;
  if (!claims["roles"].isArray()) return roles;
  for (const auto& role : claims["roles"])
    if (role.isString() && countsIn(realm, role.asString())) roles.push_back(role.asString());
  return roles;
}

std::optional<Caller> callerIn(const Json::Value& claims) {
  const auto login = textClaim(claims, "sub");
  const auto uid = numberClaim(claims, "uid");
  const auto realmName = textClaim(claims, "realm");
  const auto version = passwordVersionIn(claims);
  if (!login || !uid || !version || (realmName != "council" && realmName != "user"))
    return std::nullopt;
  const auto realm = realmName == "council" ? Realm::kCouncil : Realm::kUser;
  Caller caller{*login,  *uid, realm, numberClaim(claims, "festivalId"), rolesIn(claims, realm),
                *version};
  if (realm == Realm::kCouncil && !caller.festivalId) return std::nullopt;
  return caller;
}

bool hasBegun(const Json::Value& claims, std::time_t now) {
  if (!claims.isMember("nbf")) return true;
  return claims["nbf"].isNumeric() && claims["nbf"].asDouble() <= static_cast<double>(now);
}

// When the token ends: as it says, and not later than one that is issued now and lives as long as
// tokens live today. Nullopt: it does not say.
std::optional<std::int64_t> endOf(const Json::Value& claims, std::chrono::seconds lifetime,
                                  std::time_t now) {
  const auto expires = numberClaim(claims, "exp");
  if (!expires || !claims.isMember("iat")) return expires;
  const auto issued = numberClaim(claims, "iat");
  if (!issued) return std::nullopt;
  return std::min(*expires, std::min(*issued, std::int64_t{now}) + lifetime.count());
}

}  // namespace

TokenService::TokenService(std::string secret, std::chrono::seconds lifetime)
    : secret_(std::move(secret)), lifetime_(lifetime), verified_(kTokensRemembered) {}

std::string TokenService::issue(const Caller& caller) const {
  jwt_t* raw = nullptr;
  if (jwt_new(&raw) != 0) throw std::runtime_error("jwt_new failed");
  const Jwt token(raw, &jwt_free);
  const auto now = std::time(nullptr);
  int failed =
      jwt_set_alg(raw, JWT_ALG_HS256, reinterpret_cast<const unsigned char*>(secret_.data()),
                  static_cast<int>(secret_.size()));
  failed |= jwt_add_grant(raw, "sub", caller.login.c_str());
  failed |= jwt_add_grant_int(raw, "uid", caller.uid);
  failed |= jwt_add_grant(raw, "realm", realmName(caller.realm));
  if (caller.festivalId) failed |= jwt_add_grant_int(raw, "festivalId", *caller.festivalId);
  failed |= jwt_add_grants_json(raw, rolesJson(caller.roles).c_str());
  failed |= jwt_add_grant_int(raw, "passwordVersion", caller.passwordVersion);
  failed |= jwt_add_grant_int(raw, "iat", now);
  failed |= jwt_add_grant_int(raw, "exp", now + lifetime_.count());
  const std::unique_ptr<char, decltype(&free)> text(jwt_encode_str(raw), &free);
  if (failed != 0 || !text) throw std::runtime_error("a token could not be made");
  return text.get();
}

std::optional<Caller> TokenService::verify(const std::string& token) const {
  // libjwt reads up to the first NUL.
  if (token.empty() || token.size() > kMaxTokenBytes || token.find('\0') != std::string::npos)
    return std::nullopt;
  const auto now = std::time(nullptr);
  if (auto known = verified_.find(token, now)) return known;
  jwt_t* raw = nullptr;
  if (jwt_decode(&raw, token.c_str(), reinterpret_cast<const unsigned char*>(secret_.data()),
                 static_cast<int>(secret_.size())) != 0)
    return std::nullopt;
  const Jwt decoded(raw, &jwt_free);
  // What "crit" lists must be understood; we understand no extension.
  const auto header = objectFrom(jwt_get_headers_json(raw, nullptr));
  if (jwt_get_alg(raw) != JWT_ALG_HS256 || header["alg"] != "HS256" || header.isMember("crit"))
    return std::nullopt;
  const auto claims = objectFrom(jwt_get_grants_json(raw, nullptr));
  if (claims.isNull() || !hasBegun(claims, now)) return std::nullopt;
  const auto end = endOf(claims, lifetime_, now);
  if (!end || *end <= now) return std::nullopt;
  auto caller = callerIn(claims);
  if (!caller) return std::nullopt;
  caller->expiresAt = std::chrono::sys_seconds(std::chrono::seconds(*end));
  verified_.add(token, *caller, *end);
  return caller;
}

}  // namespace festa
