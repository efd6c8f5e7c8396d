// How controllers get at the protection of a request's write.
#pragma once

#include "services/write_guard.h"

#include <drogon/HttpRequest.h>

namespace festa {

// The guard of a request whose route has a lock.
using GuardFactory = std::function<WriteGuard(const drogon::HttpRequestPtr&)>;

}  // namespace festa
