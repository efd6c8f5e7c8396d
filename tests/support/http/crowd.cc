#include "tests/support/http/crowd.h"

#include <atomic>
#include <barrier>
#include <thread>

namespace festa::test {

void crowd(const std::vector<int>& ports, int connections, int count,
           const std::function<void(HttpClient&, int)>& act) {
  std::atomic<int> next{0};
  std::barrier start(connections);
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i)
    threads.emplace_back([&, i] {
      HttpClient client(ports[static_cast<std::size_t>(i) % ports.size()]);
      client.get("/healthz");  // connected before the start
      start.arrive_and_wait();
      for (int index = next++; index < count; index = next++) act(client, index);
    });
  for (auto& thread : threads) thread.join();
}

std::vector<Response> crowdOf(const std::vector<int>& ports, int connections, int count,
                              const std::function<Response(HttpClient&, int)>& act) {
  std::vector<Response> answers(static_cast<std::size_t>(count));
  crowd(ports, connections, count, [&](HttpClient& client, int index) {
    answers[static_cast<std::size_t>(index)] = act(client, index);
  });
  return answers;
}

std::map<std::string, int> countByCode(const std::vector<Response>& answers) {
  std::map<std::string, int> counts;
  for (const auto& answer : answers) {
    const auto code = answer.status >= 400 ? answer.code() : "";
    ++counts[std::to_string(answer.status) + (code.empty() ? "" : ' ' + code)];
  }
  return counts;
}

}  // namespace festa::test
