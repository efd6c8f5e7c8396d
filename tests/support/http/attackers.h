// Many connections that misbehave, driven by one thread, so that they take little of the processor
// from those whom they attack.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace festa::test {

// What a number of connections do: each sends its bytes, piece by piece, waits for the answers, and
// does it again, on a new connection when the peer has closed the old one.
struct Attack {
  // What a connection does when its bytes are sent.
  enum class Then {
    kWaits,
    kFinishes,  // sends nothing more (FIN)
    kGoes,      // is gone (RST)
  };
  std::string name;
  int connections = 1;
  std::function<std::string()> bytes;         // of one round
  std::size_t piece = SIZE_MAX;               // what is sent at once
  std::chrono::milliseconds pause{50};        // between pieces, and looks for answers
  std::chrono::milliseconds roundPause{100};  // between rounds, and connections
  bool reads = true;
  int answers = 1;  // that end a round; 0: it does not end
  Then then = Then::kWaits;
};

struct AttackResult {
  std::int64_t rounds = 0;               // sent to their end
  std::int64_t closed = 0;               // connections that the peer has closed
  std::map<int, std::int64_t> byStatus;  // answers, as far as they were read
};

// Goes on from the constructor to stop(), on a thread of its own.
class Attackers {
 public:
  Attackers(int port, const std::vector<Attack>& attacks);
  ~Attackers();
  Attackers(const Attackers&) = delete;
  Attackers& operator=(const Attackers&) = delete;

  // Ends all connections. What came of the attacks, by name.
  std::map<std::string, AttackResult> stop();

 private:
  struct Connection;
  void run(const std::stop_token& wish);

  const int port_;
  const std::vector<Attack> attacks_;
  std::map<std::string, AttackResult> results_;  // of the thread until it has ended
  std::jthread thread_;
};

}  // namespace festa::test
