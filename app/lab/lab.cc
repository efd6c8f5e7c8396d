#include "app/lab.h"

#include "app/config/instance_name.h"
#include "app/lab/bare_site.h"
#include "app/lab/lab_protections.h"
#include "app/lab/race/race_controller.h"
#include "app/startup/demo_data.h"
#include "app/website.h"

namespace festa {

namespace {

class RunningLab : public Lab {
 public:
  explicit RunningLab(const Foundation& on)
      : on_(on),
        times_(on.locks.observer(), instanceName(on.config)),
        guarded_(on.locks.protections(), on.locks.strategies(), pauses_, times_, Backstop::kOn),
        bare_(on.locks.protections(), on.locks.strategies(), pauses_, times_, Backstop::kOff),
        desk_(on.config, on.accounts.tokens) {
    times_.install();
  }

  const Protections& protections() const override { return guarded_; }
  lock::LockObserver& lockObserver() override { return times_; }

  void publish(RouteTable& routes, const LabSite& site) override {
    bareSite_ = std::make_unique<const BareSite>(on_, bare_, site);
    bareSite_->standBehind(routes);
    races_ = std::make_unique<const RaceController>(desk_, on_.locks.strategies(), site.streams);
    RoutePublisher more(routes, site.pipeline);
    races_->publish(more);
  }

  void close() override {
    pauses_.end();
    desk_.close();
  }
  void stop() override { desk_.stop(); }

 private:
  const Foundation& on_;
  LabPauses pauses_;
  LabTimekeeper times_;
  const LabProtections guarded_;
  const LabProtections bare_;
  RaceDesk desk_;
  std::unique_ptr<const BareSite> bareSite_;
  std::unique_ptr<const RaceController> races_;
};

void requireLabMode(const Config& config) {
  if (!config.lab) throw ConfigError("this is for the lab: set lab (./dev run --lab)");
}

Caller callerNamed(PgSession& session, const std::string& name) {
  const auto users =
      session.query("SELECT id, role, password_version FROM users WHERE login = $1", {name});
  if (!users.empty())
    return {name,         std::stoll(*users[0][0]), Realm::kUser,
            std::nullopt, {*users[0][1]},           std::stoll(*users[0][2])};
  const auto councils = session.query(
      "SELECT id, role, festival_id, password_version FROM councils WHERE username = $1", {name});
  if (councils.empty()) throw ConfigError("there is no user and no council named '" + name + "'");
  return {name,
          std::stoll(*councils[0][0]),
          Realm::kCouncil,
          std::stoll(*councils[0][2]),
          {*councils[0][1]},
          std::stoll(*councils[0][3])};
}

}  // namespace

void requireLab() {}

std::unique_ptr<Lab> makeLab(const Foundation& on) {
  return std::make_unique<RunningLab>(on);
}

std::int64_t seedUsers(const Config& config, std::int64_t count) {
  requireLabMode(config);
  PgSession session(config.database);
  return addDemoUsers(session, count);
}

std::vector<std::string> tokensFor(const Config& config, const std::vector<std::string>& names) {
  requireLabMode(config);
  PgSession session(config.database);
  const TokenService tokens(config.auth.jwtSecret, config.auth.tokenLife);
  std::vector<std::string> all;
  all.reserve(names.size());
  for (const auto& name : names) all.push_back(tokens.issue(callerNamed(session, name)));
  return all;
}

}  // namespace festa
