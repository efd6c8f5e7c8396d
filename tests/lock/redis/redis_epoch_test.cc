// Processes that take tokens of a server which loses its counter again and again, in random order:
// each step of startNewEpoch() is its own event, and an install that was given up may still arrive.
// Every run is a seed.
#include "tests/support/lock/epoch_model.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace festa::test {

namespace {

using Bug = EpochModel::Bug;

// Per step of a run.
struct Losses {
  double flush = 0;
  double counterOnly = 0;  // the counter alone is deleted
  double restart = 0;      // with the data of the last save, or without
  double lostReply = 0;    // of an install, which is executed now, later or never
};

class EpochSimulation {
 public:
  EpochSimulation(std::uint32_t seed, Losses losses, Bug bug)
      : random_(seed), losses_(losses), server_(bug) {}

  // Empty: nothing went wrong.
  std::string run() {
    for (int i = 0; i < 400 && wrong_.empty(); ++i) step();
    losses_ = {};
    for (auto& process : processes_) finish(process);
    return wrong_;
  }
  int mostAttempts() const { return mostAttempts_; }
  int tokens() const { return tokens_; }

 private:
  struct Process {
    enum class State { kIdle, kMarked, kDrawn } state = State::kIdle;
    std::string mark = {};
    std::int64_t epoch = 0;
    int attempts = 0;
  };
  struct Install {
    std::string mark;
    std::int64_t epoch;
  };

  bool happens(double probability) {
    return std::uniform_real_distribution<>(0, 1)(random_) < probability;
  }

  void step() {
    if (happens(losses_.flush)) server_.flush();
    if (happens(losses_.counterOnly)) server_.loseCounter();
    if (happens(0.05)) server_.save();
    if (happens(losses_.restart)) server_.restart();
    if (!late_.empty() && happens(0.1)) {
      server_.install(late_.back().mark, late_.back().epoch);
      late_.pop_back();
    }
    advance(processes_[random_() % processes_.size()]);
  }

  void advance(Process& process) {
    switch (process.state) {
      case Process::State::kIdle: return takeOrMark(process);
      case Process::State::kMarked:
        process.epoch = ++sequence_;
        process.state = Process::State::kDrawn;
        return;
      case Process::State::kDrawn: return install(process);
    }
  }

  void takeOrMark(Process& process) {
    const auto token = server_.take();
    if (token) {
      if (*token <= last_) wrong_ = "tokens went back";
      last_ = *token;
      ++tokens_;
      process.attempts = 0;
      return;
    }
    process.mark = server_.mark("nonce-" + std::to_string(++nonces_));
    if (process.mark.empty()) return;
    mostAttempts_ = std::max(mostAttempts_, ++process.attempts);
    process.state = Process::State::kMarked;
  }

  void install(Process& process) {
    process.state = Process::State::kIdle;
    if (happens(losses_.lostReply))
      late_.push_back({process.mark, process.epoch});
    else
      server_.install(process.mark, process.epoch);
  }

  // Without losses every process gets a token within the attempts there are.
  void finish(Process& process) {
    for (int i = 0; i < 12; ++i) advance(process);
    if (!server_.take()) wrong_ = "a process gets no token";
  }

  std::mt19937 random_;
  Losses losses_;
  EpochModel server_;
  std::array<Process, 4> processes_;
  std::vector<Install> late_;  // sent, and given up by its process
  std::int64_t sequence_ = 0;
  std::int64_t last_ = 0;
  int nonces_ = 0;
  int tokens_ = 0;
  int mostAttempts_ = 0;
  std::string wrong_;
};

struct Tally {
  int wrong = 0;
  std::string first;
  int mostAttempts = 0;
  int tokens = 0;
};
Tally simulate(int seeds, Losses losses, Bug bug = Bug::kNone) {
  Tally tally;
  for (int seed = 1; seed <= seeds; ++seed) {
    EpochSimulation simulation(static_cast<std::uint32_t>(seed), losses, bug);
    const auto wrong = simulation.run();
    tally.mostAttempts = std::max(tally.mostAttempts, simulation.mostAttempts());
    tally.tokens += simulation.tokens();
    if (!wrong.empty() && tally.wrong++ == 0)
      tally.first = "seed " + std::to_string(seed) + ": " + wrong;
  }
  return tally;
}

const int kSeeds = kSanitized ? 500 : sized(3000, 100'000);

constexpr Losses kEverything{.flush = 0.05, .counterOnly = 0.03, .restart = 0.05, .lostReply = 0.2};

}  // namespace

TEST(EpochSimulation, TokensNeverGoBackWhateverIsLost) {
  const auto tally = simulate(kSeeds, kEverything);
  EXPECT_EQ(tally.wrong, 0) << tally.first;
  EXPECT_GT(tally.tokens, 10 * kSeeds);
}

TEST(EpochSimulation, ProcessesThatFindTheSameLossNeedOneAttemptEach) {
  EXPECT_EQ(simulate(kSeeds / 10, {}).mostAttempts, 1);
}

// Mistakes planted in the server must be seen, or the simulation is blind.
TEST(EpochSimulation, SeesAnEpochThatIsInstalledAfterASecondLoss) {
  EXPECT_GT(simulate(kSeeds / 10, {.flush = 0.05}, Bug::kAnyEpochIsInstalled).wrong, 0);
}

TEST(EpochSimulation, SeesAMarkThatOutlivesItsEpoch) {
  EXPECT_GT(simulate(kSeeds / 10, {.counterOnly = 0.05}, Bug::kMarkOutlivesItsEpoch).wrong, 0);
}

TEST(EpochSimulation, SeesAMarkThatComesBackWithASnapshot) {
  EXPECT_GT(simulate(kSeeds / 10, {.restart = 0.05}, Bug::kMarkIsOfNoServer).wrong, 0);
}

TEST(EpochSimulation, SeesACounterThatComesBackWithASnapshot) {
  EXPECT_GT(simulate(kSeeds / 10, {.restart = 0.05}, Bug::kCounterMayBeALowerCopy).wrong, 0);
}

}  // namespace festa::test
