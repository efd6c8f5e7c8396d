// Answers that are streams of server-sent events.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/stream_places.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <functional>
#include <memory>
#include <string>

namespace festa {

// Drogon sends streams to requests of HTTP/1.1 whose connection stays, other than HEAD.
bool mayStream(const drogon::HttpRequestPtr& request);

// 200 with a stream that holds `place` until it ends, and its connection with it: no request is
// read behind a stream. `begin` gets the sink when Drogon has sent the headers, on the connection's
// loop, and hands it to a feed. Where mayStream() is false the answer is `once` and `begin` is not
// called.
drogon::HttpResponsePtr eventStream(const drogon::HttpRequestPtr& request,
                                    std::shared_ptr<StreamPlaces::Place> place,
                                    const std::string& once,
                                    std::function<void(std::unique_ptr<EventSink>)> begin);

}  // namespace festa
