// A route as its controller declares it, and what stands in the table for it.
#pragma once

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>
#include <drogon/HttpTypes.h>
#include <drogon/utils/coroutine.h>

#include <string>
#include <vector>

namespace festa {

// Roles of which a caller needs one; empty: anyone may call.
using Access = std::vector<std::string>;
inline const Access kAnyone = {};
inline const Access kAdmins = {"ROLE_ADMIN"};
inline const Access kCouncils = {"ROLE_COUNCIL", "ROLE_ADMIN"};
inline const Access kUsers = {"ROLE_USER"};
inline const Access kUsersAndAdmins = {"ROLE_USER", "ROLE_ADMIN"};

// Which words of paging a list takes. It refuses the others: a client that sends them and always
// gets the same answer would read the same page for ever.
enum class Paged {
  kNoList,   // no list; such words mean nothing, like all that is unknown
  kWhole,    // none: the answer is all of it
  kByAfter,  // after
  kByPage,   // page, perPage, after
};

struct RouteHead {
  drogon::HttpMethod method;
  std::string path;  // literal segments and {name} segments
  Access access;
  bool takesBody = false;
  bool takesList = false;             // its body is a list rather than an object
  std::size_t maxBodyMembers = 1000;  // members of all objects in its body
  bool checksPassword = false;        // or makes one: costs much, and may be guessed
  bool endsTokens = false;            // its success ends the caller's token
  bool answersToken = false;          // its answers must not be stored
  bool isEnveloped = false;  // its clients know the result from an envelope, see envelope.h
  Paged paged = Paged::kNoList;

  bool isAuthenticatedWrite() const { return !access.empty() && method != drogon::Get; }
};

// Thread-safe; lives as long as the table.
class Endpoint {
 public:
  explicit Endpoint(RouteHead head) : head_(std::move(head)) {}
  virtual ~Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const RouteHead& head() const { return head_; }

  // Of a request that has been read to its end and has found this route. Throws what its answer
  // would be an error for.
  virtual drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const = 0;

 private:
  const RouteHead head_;
};

}  // namespace festa
