// Many clients that all start in the same moment.
#pragma once

#include "tests/support/http/http.h"
#include "tests/support/loops.h"

#include <barrier>
#include <functional>
#include <map>
#include <thread>
#include <vector>

namespace festa::test {

// Runs `act(client, index)` on `count` threads with a connection each, released together. All
// answers.
inline std::vector<Response> rush(int port, int count,
                                  const std::function<Response(HttpClient&, int)>& act) {
  std::vector<Response> answers(static_cast<std::size_t>(count));
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      HttpClient client(port);
      client.get("/healthz");  // connected before the start
      start.arrive_and_wait();
      answers[static_cast<std::size_t>(i)] = act(client, i);
    });
  for (auto& thread : threads) thread.join();
  return answers;
}

// Asks until the answer is no 503. That one says that nothing was stored and asks to come back: on
// busy cores those who wait inside the database may do so for longer than it lets them.
inline Response untilServed(const std::function<Response()>& ask) {
  Response answer;
  eventually([&] {
    answer = ask();
    return answer.status != 503;
  });
  return answer;
}

inline std::map<int, int> countByStatus(const std::vector<Response>& answers) {
  std::map<int, int> counts;
  for (const auto& answer : answers) ++counts[answer.status];
  return counts;
}

}  // namespace festa::test
