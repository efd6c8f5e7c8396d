// Many requests over a bounded number of connections.
#pragma once

#include "tests/support/http/http.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace festa::test {

// Runs `act(client, index)` for 0 … count-1 on `connections` threads, spread over the ports; each
// thread takes the next index when its last request is answered.
void crowd(const std::vector<int>& ports, int connections, int count,
           const std::function<void(HttpClient&, int)>& act);

// The same for requests whose answers are to be looked at, in the order of their indices.
std::vector<Response> crowdOf(const std::vector<int>& ports, int connections, int count,
                              const std::function<Response(HttpClient&, int)>& act);

// Answers by "status code", e.g. "409 SEAT_BUSY".
std::map<std::string, int> countByCode(const std::vector<Response>& answers);

}  // namespace festa::test
