#include "app/website.h"

#include "app/config/instance_name.h"
#include "app/http_settings.h"
#include "app/version.h"

namespace festa {

namespace {

// Bounds of what is kept in memory.
constexpr std::size_t kSoldSeatsKnown = 100'000;
constexpr std::size_t kPerformancesAsJson = 1000;

IdempotencySettings idempotencySettings(const Config::Idempotency& config) {
  return {.attemptTime = config.attempt, .keep = config.keep};
}

BatchLimits batchLimits(const Config& config) {
  return {config.database.batchMembers, batchesPerLoop(config)};
}

void addSharedCounters(Metrics& metrics, const std::string& kind, const SharedCounts& counts) {
  metrics.addCounterSource("festa_shared_transactions_total",
                           "Transactions that were written for several requests.", {{"kind", kind}},
                           [&counts] { return static_cast<double>(counts.transactions()); });
  metrics.addCounterSource("festa_shared_members_total",
                           "Requests for which such transactions were written.", {{"kind", kind}},
                           [&counts] { return static_cast<double>(counts.members()); });
}

void addStreamMetrics(Metrics& metrics, const StreamBounds& bounds) {
  metrics.addGauge("festa_stream_unsent_bytes",
                   "What readers of event streams have left in memory.",
                   [&bounds] { return static_cast<double>(bounds.unsent()); });
  metrics.addCounterSource("festa_streams_closed_total",
                           "Event streams closed because their readers left too much.", {},
                           [&bounds] { return static_cast<double>(bounds.closed()); });
}

std::string firstSegment(const std::string& path) {
  return path.substr(0, path.find('/', 1));
}

// A prefix that begins like a route would hide it.
void requireFreePrefix(const std::string& prefix, const RouteTable& routes) {
  for (const auto* route : routes.all())
    if (!prefix.empty() && firstSegment(prefix) == firstSegment(route->spec().path))
      throw ConfigError("configuration: 'http.api_prefix' would hide " + route->spec().path);
}

std::vector<std::string> strategyNames() {
  std::vector<std::string> names;
  for (const auto& row : strategyTable()) names.push_back(row.name);
  return names;
}

}  // namespace

Services::Services(const Config& config, const Database& database, Accounts& accounts)
    : announcements(database),
      councils(database, accounts.hasher, accounts.tokens, accounts.versions),
      festivals(database),
      lineups(database),
      eventDates(database),
      events(database),
      questions(database),
      lostItems(database),
      notifications(database, config.notifications.keep),
      users(database, accounts.hasher, accounts.tokens),
      performances(database),
      sold(kSoldSeatsKnown),
      saleBatches(database, batchLimits(config)),
      reservations(database, sold, saleBatches),
      coupons(database),
      claims(database),
      claimExpiry(database, config.queue.claimTimeout),
      keyBatches(database, batchLimits(config), config.idempotency.attempt),
      idempotency(database, idempotencySettings(config.idempotency), &keyBatches) {}

Website::Website(const Foundation& on, Lab* lab)
    : lab_(lab),
      callers_(on.accounts.tokens, on.accounts.versions, callerLimits(on.config)),
      idempotency_(on.services.idempotency),
      pipeline_({callers_, idempotency_, lab ? lab->protections() : on.locks.protections(),
                 on.locks.board(), lab ? lab->lockObserver() : on.locks.observer()}),
      performanceJson_(on.services.performances, kPerformancesAsJson),
      streamBounds_(std::make_shared<StreamBounds>(streamLimits(on.config))),
      claimPlaces_(std::make_shared<StreamPlaces>(streamBounds_, on.config.queue.maxStreams,
                                                  on.config.queue.maxStreamsPerUser)),
      claimFeed_(std::make_shared<ClaimFeed>(on.services.claims)),
      listenerPlaces_(
          std::make_shared<StreamPlaces>(streamBounds_, on.config.notifications.maxStreams, 0)),
      notificationFeed_(std::make_shared<NotificationFeed>(on.services.notifications)),
      watcherPlaces_(
          std::make_shared<StreamPlaces>(streamBounds_, on.config.http.maxSeatWatchers, 0)),
      seatFeed_(std::make_shared<SeatFeed>(on.services.performances)),
      metricsPage_(on.metrics),
      health_(on.database, on.locks, on.queues),
      operations_(health_, metricsPage_, *on.drain),
      instanceRows_(std::make_shared<InstanceRows>(on.database, on.locks.board(), *on.drain,
                                                   instanceName(on.config))),
      overview_({on.config, on.locks, health_, metricsPage_, *instanceRows_}),
      lockAdmin_(on.locks.board(), on.locks.redis(), on.config.redis.prefix),
      councils_(on.services.councils),
      festivals_(on.services.festivals),
      lineups_(on.services.lineups, lists_),
      eventDates_(on.services.eventDates, lists_),
      events_(on.services.events, lists_),
      questions_(on.services.questions, lists_),
      lostItems_(on.services.lostItems, lists_),
      notifications_(on.services.notifications, *notificationFeed_, *listenerPlaces_),
      announcements_(on.services.announcements, lists_),
      users_(on.services.users),
      performances_(on.services.performances, lists_),
      liveSeats_({on.services.performances, performanceJson_, lists_, *seatFeed_, *watcherPlaces_,
                  on.services.notifications, *notificationFeed_}),
      reservations_(on.services.reservations, performanceJson_, on.services.sold),
      coupons_(on.services.coupons, on.services.claims, *claimFeed_, *claimPlaces_),
      docs_(std::string(version()), strategyNames()),
      pages_({on.config.demo, lab != nullptr}, performanceJson_),
      front_(httpFrontSettings(on.config), routes_, callers_, on.metrics, on.drain,
             pages_.missing()) {
  RoutePublisher routes(routes_, pipeline_);
  publish(routes);
  DocsController::verify(routes_, lab_ != nullptr);
  requireFreePrefix(on.config.http.apiPrefix, routes_);
  addSharedCounters(on.metrics, "sales", on.services.saleBatches.counts());
  addSharedCounters(on.metrics, "keys", on.services.keyBatches.counts());
  addSharedCounters(on.metrics, "coupons", on.services.coupons.counts());
  on.metrics.addGauge("festa_rendered_list_bytes",
                      "Rendered lists that are kept for their readers.",
                      [this] { return static_cast<double>(lists_.bytes()); });
  addStreamMetrics(on.metrics, *streamBounds_);
  on.metrics.addGauge("festa_seat_watchers", "Streams that tell which seats are sold.",
                      [this] { return static_cast<double>(seatFeed_->watchers()); });
  front_.install();
}

void Website::publish(RoutePublisher& routes) {
  operations_.publish(routes);
  overview_.publish(routes);
  lockAdmin_.publish(routes);
  councils_.publish(routes);
  festivals_.publish(routes);
  lineups_.publish(routes);
  eventDates_.publish(routes);
  events_.publish(routes);
  questions_.publish(routes);
  lostItems_.publish(routes);
  notifications_.publish(routes);
  announcements_.publish(routes);
  users_.publish(routes);
  performances_.publish(routes);
  liveSeats_.publish(routes);
  reservations_.publish(routes);
  coupons_.publish(routes);
  docs_.publish(routes);
  pages_.publish(routes);
  if (lab_ != nullptr)
    lab_->publish(routes_,
                  {pipeline_, lists_, performanceJson_, *claimFeed_, *claimPlaces_, streamBounds_});
}

void Website::start(trantor::EventLoop* loop) const {
  claimFeed_->start(loop);
  notificationFeed_->start(loop);
  seatFeed_->start(loop);
  instanceRows_->start(loop);
}

void Website::closeStreams() const {
  claimFeed_->close();
  notificationFeed_->close();
  seatFeed_->close();
  if (lab_ != nullptr) lab_->close();
}

void Website::stop() {
  claimFeed_->stop();
  notificationFeed_->stop();
  seatFeed_->stop();
  instanceRows_->stop();
  if (lab_ != nullptr) lab_->stop();
  metricsPage_.stop();
}

}  // namespace festa
