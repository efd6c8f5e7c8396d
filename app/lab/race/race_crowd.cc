#include "app/lab/race/race_crowd.h"

#include "app/lab/lab_times.h"

#include <drogon/HttpRequest.h>
#include <json/json.h>

#include <memory>
#include <stdexcept>

namespace festa {

namespace {

constexpr double kPatience = 30;
// The n-th question for the outcome of a queued request follows the one before after n times this.
constexpr double kAskAgain = 0.02;
// 34 s for all of them.
constexpr int kMostQuestions = 58;

drogon::HttpRequestPtr postOf(const RaceRequest& request,
                              const std::vector<std::pair<std::string, std::string>>& headers) {
  auto post = drogon::HttpRequest::newHttpRequest();
  post->setMethod(drogon::Post);
  post->setPath(request.path);
  if (!request.body.empty()) {
    post->setContentTypeCode(drogon::CT_APPLICATION_JSON);
    post->setBody(request.body);
  }
  post->addHeader("Authorization", "Bearer " + request.token);
  for (const auto& [name, value] : headers) post->addHeader(name, value);
  return post;
}

drogon::HttpRequestPtr getOf(const std::string& path, const RaceRequest& request) {
  auto get = drogon::HttpRequest::newHttpRequest();
  get->setPath(path);
  get->addHeader("Authorization", "Bearer " + request.token);
  return get;
}

Json::Value bodyOf(const drogon::HttpResponsePtr& response) {
  Json::Value body;
  const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
  const auto text = response->body();
  if (!reader->parse(text.data(), text.data() + text.size(), &body, nullptr) || !body.isObject())
    return Json::objectValue;
  return body;
}

std::string textIn(const Json::Value& body, const char* name) {
  return body[name].isString() ? body[name].asString() : "";
}

RaceLane laneOf(const drogon::HttpResponsePtr& response) {
  RaceLane lane;
  lane.status = response->statusCode();
  lane.server = labTimesIn(response->getHeader("x-lab-times")).value_or(LabTimes{});
  const auto body = bodyOf(response);
  if (!lane.isAccepted())
    lane.code = textIn(body, "code");
  else if (body["sequence"].isIntegral())
    lane.won = "#" + std::to_string(body["sequence"].asInt64());
  return lane;
}

// A claim as GET tells it; what a request without a queue would have been answered.
void decide(RaceLane& lane, const Json::Value& claim) {
  if (textIn(claim, "state") == "DONE") {
    lane.status = drogon::k201Created;
    lane.won = "#" + std::to_string(claim["sequence"].asInt64());
  } else {
    lane.status = drogon::k409Conflict;
    lane.code = textIn(claim, "code");
  }
}

bool isDecided(const Json::Value& claim) {
  const auto state = textIn(claim, "state");
  return state == "DONE" || state == "FAILED";
}

}  // namespace

// Lives while its requests are under way. On the loop only.
struct RaceCrowd::Run {
  RaceRecord& race;
  const std::vector<RaceRequest>& requests;
  const std::vector<std::pair<std::string, std::string>>& headers;
  std::size_t missing;
  std::promise<void> over;

  void finishOne() {
    if (--missing == 0) over.set_value();
  }
};

RaceCrowd::RaceCrowd(trantor::EventLoop* loop, RaceDoor door, std::size_t people) : loop_(loop) {
  clients_.reserve(people);
  for (std::size_t i = 0; i < people; ++i)
    clients_.push_back(drogon::HttpClient::newHttpClient(door.host, door.port, false, loop_));
}

// Clients end on their loop.
RaceCrowd::~RaceCrowd() {
  std::promise<void> ended;
  loop_->queueInLoop([this, &ended] {
    clients_.clear();
    ended.set_value();
  });
  ended.get_future().wait();
}

void RaceCrowd::gather() {
  struct State {
    std::size_t missing;
    bool allAnswered = true;
    std::promise<bool> over;
  };
  const auto state = std::make_shared<State>(State{clients_.size(), true, {}});
  auto over = state->over.get_future();
  loop_->queueInLoop([this, state] {
    for (const auto& client : clients_) {
      auto request = drogon::HttpRequest::newHttpRequest();
      request->setPath("/healthz");
      client->sendRequest(
          request,
          [state](drogon::ReqResult result, const drogon::HttpResponsePtr& response) {
            const bool isThere = result == drogon::ReqResult::Ok && response->statusCode() == 200;
            state->allAnswered = state->allAnswered && isThere;
            if (--state->missing == 0) state->over.set_value(state->allAnswered);
          },
          kPatience);
    }
  });
  if (!over.get()) throw std::runtime_error("the crowd could not connect to the service's door");
}

void RaceCrowd::run(RaceRecord& race, const std::vector<RaceRequest>& requests,
                    const std::vector<std::pair<std::string, std::string>>& headers) {
  Run run{race, requests, headers, clients_.size(), {}};
  auto over = run.over.get_future();
  loop_->queueInLoop([this, &run] {
    for (std::size_t i = 0; i < clients_.size(); ++i)
      loop_->runAfter(std::chrono::duration<double>(run.race.plan().people[i].arrives),
                      [this, &run, i] { send(run, i); });
  });
  over.wait();
}

// A request that was sent, and whose outcome is not known.
struct RaceCrowd::Pending {
  Run& run;
  RaceLane lane;
  std::string outcomeAt = {};  // the path of a queued request's outcome
  int questions = 0;

  const RaceRequest& request() const { return run.requests[static_cast<std::size_t>(lane.person)]; }

  void finish() {
    lane.answered = LabTimekeeper::now();
    lane.place = request().place;
    if (lane.isAccepted() && lane.won.empty()) lane.won = lane.place;
    run.race.answered(std::move(lane));
    run.finishOne();
  }
};

void RaceCrowd::send(Run& run, std::size_t person) {
  if (isCancelled_) {
    run.finishOne();
    return;
  }
  Pending pending{run, {}};
  pending.lane.person = static_cast<std::int64_t>(person);
  pending.lane.sent = LabTimekeeper::now();
  run.race.sent(pending.lane.person, pending.lane.sent);
  clients_[person]->sendRequest(
      postOf(run.requests[person], run.headers),
      [this, pending](drogon::ReqResult result, const drogon::HttpResponsePtr& response) {
        received(pending, result, response);
      },
      kPatience);
}

void RaceCrowd::received(Pending pending, drogon::ReqResult result,
                         const drogon::HttpResponsePtr& response) {
  if (result != drogon::ReqResult::Ok) {
    pending.finish();
    return;
  }
  auto lane = laneOf(response);
  lane.person = pending.lane.person;
  lane.sent = pending.lane.sent;
  pending.lane = std::move(lane);
  pending.outcomeAt = response->getHeader("location");
  if (pending.lane.status == drogon::k202Accepted)
    askForOutcome(std::move(pending));
  else
    pending.finish();
}

void RaceCrowd::askForOutcome(Pending pending) {
  if (isCancelled_ || ++pending.questions > kMostQuestions) {
    pending.lane.status = 0;
    pending.finish();
    return;
  }
  const auto ask = [this, pending] {
    const auto person = static_cast<std::size_t>(pending.lane.person);
    clients_[person]->sendRequest(
        getOf(pending.outcomeAt, pending.request()),
        [this, pending](drogon::ReqResult result, const drogon::HttpResponsePtr& response) mutable {
          const auto claim =
              result == drogon::ReqResult::Ok ? bodyOf(response) : Json::Value(Json::objectValue);
          if (!isDecided(claim)) {
            askForOutcome(std::move(pending));
            return;
          }
          decide(pending.lane, claim);
          pending.finish();
        },
        kPatience);
  };
  loop_->runAfter(kAskAgain * pending.questions, ask);
}

}  // namespace festa
