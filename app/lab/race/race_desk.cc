#include "app/lab/race/race_desk.h"

#include "app/lab/lab_times.h"
#include "app/lab/race/redis_tally.h"
#include "app/operations/log.h"
#include "app/strategies/strategies.h"
#include "services/error.h"

namespace festa {

namespace {

constexpr double kTellEvery = 0.05;
// A race's statements take milliseconds. A database that hangs ends the race, and holds up neither
// the next one nor the end of the service.
constexpr PgSession::Patience kDatabasePatience{5000};

// The database was there when the service started: one attempt is enough.
PgSession connectOnce(Config::Database database) {
  database.connectTimeout = std::chrono::milliseconds{0};
  return PgSession(database, kDatabasePatience);
}

// A listener on all addresses is reached at loopback.
RaceDoor doorOf(const Config& config) {
  if (config.race.doorPort > 0) return {"127.0.0.1", config.race.doorPort};
  const auto& address = config.http.address;
  return {address == "0.0.0.0" ? "127.0.0.1" : address, config.http.port};
}

std::vector<std::pair<std::string, std::string>> headersOf(const RaceWish& wish,
                                                           const std::string& strategy) {
  std::vector<std::pair<std::string, std::string>> headers{
      {"X-Lab-Times", "on"},
      {"X-Concurrency", strategy},
      {"X-Backstop", wish.backstop ? "on" : "off"}};
  if (wish.releasesBeforeCommit) headers.emplace_back("X-Lab-Fault", "release-before-commit");
  return headers;
}

}  // namespace

RaceDesk::RaceDesk(const Config& config, const TokenService& tokens)
    : config_(config),
      tokens_(tokens),
      door_(doorOf(config)),
      // A link to a race of an earlier process must not show another one.
      lastId_(std::chrono::duration_cast<std::chrono::milliseconds>(
                  std::chrono::system_clock::now().time_since_epoch())
                  .count()),
      crowdLoop_("RaceCrowd") {
  crowdLoop_.run();
  crowdLoop_.getLoop()->runEvery(kTellEvery, [this] { tellWatchers(); });
}

RaceDesk::~RaceDesk() {
  stop();
}

std::shared_ptr<const RaceRecord> RaceDesk::start(RaceWish wish) {
  auto plan = planOf(wish);
  const std::lock_guard guard(mutex_);
  if (isClosed_) throw ServiceError(ErrorCode::kShuttingDown);
  if (!races_.empty() && !races_.front()->isOver()) throw ServiceError(ErrorCode::kRaceRunning);
  if (runner_.joinable()) runner_.join();  // its race is over: it ends at once
  const auto race = std::make_shared<RaceRecord>(++lastId_, std::move(wish), std::move(plan));
  races_.push_front(race);
  if (races_.size() > kRemembered) races_.pop_back();
  runner_ = std::thread([this, race] { run(*race); });
  return race;
}

std::shared_ptr<const RaceRecord> RaceDesk::find(std::int64_t id) const {
  const std::lock_guard guard(mutex_);
  for (const auto& race : races_)
    if (race->id() == id) return race;
  throw ServiceError(ErrorCode::kRaceNotFound);
}

std::vector<std::shared_ptr<const RaceRecord>> RaceDesk::all() const {
  const std::lock_guard guard(mutex_);
  return {races_.begin(), races_.end()};
}

void RaceDesk::run(RaceRecord& race) {
  std::string failure;
  try {
    auto session = connectOnce(config_.database);
    RaceCrowd crowd(crowdLoop_.getLoop(), door_, race.plan().people.size());
    {
      const std::lock_guard guard(mutex_);
      if (isClosed_) throw std::runtime_error("the service stops");
      crowd_ = &crowd;
    }
    try {
      crowd.gather();
      for (const auto& strategy : race.wish().strategies)
        runStrategy(race, strategy, crowd, session);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const std::lock_guard guard(mutex_);
    crowd_ = nullptr;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure.empty()) LogLine("race", "warn").with("text", failure);
  race.finish(failure);
}

void RaceDesk::runStrategy(RaceRecord& race, const std::string& strategy, RaceCrowd& crowd,
                           PgSession& session) {
  RaceStage stage(session, tokens_, race.wish(), race.plan());
  const auto requests = stage.prepare();
  const auto& row = *findStrategy(strategy);
  RedisTally redis(config_, row.needs);
  race.begin(LabTimekeeper::now());
  crowd.run(race, requests, headersOf(race.wish(), strategy));
  if (crowd.isCancelled()) throw std::runtime_error("the service stops");
  const auto redisCommands = redis.sinceStart();
  RaceResult result;
  result.facts = stage.judge(race.accepted());
  result.findings =
      findingsOf(race.lanes(), race.plan().mostPerPrize,
                 row.acrossProcesses ? RaceStorage::kShared : RaceStorage::kPerInstance);
  result.redisCommands = redisCommands;
  result.isProtected = protects(row, race.wish(), result.findings.instances.size());
  race.judged(std::move(result));
}

void RaceDesk::watch(std::shared_ptr<const RaceRecord> race, std::unique_ptr<EventSink> out) {
  RaceWatcher watcher(std::move(race), std::move(out));
  const std::lock_guard guard(mutex_);
  if (isClosed_) return;
  if (watcher.goesOn(std::chrono::steady_clock::now())) watchers_.push_back(std::move(watcher));
}

void RaceDesk::tellWatchers() {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard guard(mutex_);
  if (!races_.empty()) races_.front()->flush();
  watchers_.remove_if([now](RaceWatcher& watcher) { return !watcher.goesOn(now); });
}

void RaceDesk::close() {
  std::list<RaceWatcher> ended;
  const std::lock_guard guard(mutex_);
  isClosed_ = true;
  if (crowd_ != nullptr) crowd_->cancel();
  ended.swap(watchers_);
}

void RaceDesk::stop() {
  close();
  std::thread runner;
  {
    const std::lock_guard guard(mutex_);
    runner = std::move(runner_);
  }
  if (runner.joinable()) runner.join();
}

}  // namespace festa
