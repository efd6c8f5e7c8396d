#include "services/token_service.h"

#include <json/json.h>
#include <jwt.h>

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

std::vector<std::string> rolesOf(jwt_t* token) {
  const std::unique_ptr<char, decltype(&free)> text(jwt_get_grants_json(token, "roles"), &free);
  std::vector<std::string> roles;
  Json::Value parsed;
  if (!text || !Json::Reader().parse(text.get(), parsed) || !parsed.isArray()) return roles;
  for (const auto& role : parsed)
    if (role.isString()) roles.push_back(role.asString());
  return roles;
}

std::optional<std::string> textGrant(jwt_t* token, const char* name) {
  const char* value = jwt_get_grant(token, name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

// libjwt says "absent or not a number" through errno only; numbers of ours are positive.
std::optional<std::int64_t> numberGrant(jwt_t* token, const char* name) {
  const std::int64_t value = jwt_get_grant_int(token, name);
  return value > 0 ? std::optional(value) : std::nullopt;
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
  if (jwt_get_alg(raw) != JWT_ALG_HS256) return std::nullopt;
  const auto expires = numberGrant(raw, "exp");
  if (!expires || *expires <= now) return std::nullopt;

  const auto login = textGrant(raw, "sub");
  const auto uid = numberGrant(raw, "uid");
  const auto realm = textGrant(raw, "realm");
  if (!login || !uid || (realm != "council" && realm != "user")) return std::nullopt;
  Caller caller{*login, *uid, realm == "council" ? Realm::kCouncil : Realm::kUser,
                numberGrant(raw, "festivalId"), rolesOf(raw)};
  if (caller.realm == Realm::kCouncil && !caller.festivalId) return std::nullopt;
  verified_.add(token, caller, *expires);
  return caller;
}

}  // namespace festa
